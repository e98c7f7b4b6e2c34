/** `tocsin demo`: says at once what it is; what it runs takes a second to load. */
import type {} from './context.ts';
import type { runDemo } from './demo-run.ts';

const HEADER = `Tocsin demo: a fake monitoring service and fake receivers of every kind, a private Redis, and the real daemon between.
In the first minute: a whole message, a storm that becomes a digest, and a channel that breaks and is mended.
Ctrl-C ends it.

Starting ...
`;

export const demo: typeof runDemo = async (options, context) => {
  context.raw.write(HEADER);
  const loaded = await import('./demo-run.ts');
  return loaded.runDemo(options, context);
};
