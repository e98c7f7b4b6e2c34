/** `tocsin demo`: says at once what it is; what it runs takes a second to load. */
import type { CommandContext, ExitCode } from './context.ts';
import type { DemoOptions } from './demo-run.ts';

const HEADER = `Tocsin demo: a fake monitoring service and fake receivers of every kind, a private Redis, and the real daemon between.
In the first minute: a whole message, a storm that becomes a digest, and a channel that breaks and is mended.
Ctrl-C ends it.

Starting ...
`;

export const demo = async (options: DemoOptions, context: CommandContext): Promise<ExitCode> => {
  context.raw.write(HEADER);
  const { runDemo } = await import('./demo-run.ts');
  return runDemo(options, context);
};
