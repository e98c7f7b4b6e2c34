/** Slack's own markup, as a reader sees it. */
import { DATE } from './dates.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** Links as `label (URL)`, dates as their fallback, mentions as Slack wrote them, entities decoded. */
export const displayMrkdwn = (text: string): string =>
  text
    .replace(DATE, '$4')
    .replace(/<(https?:[^|<>]+|mailto:[^|<>]+)\|([^<>]*)>/g, '$2 ($1)')
    .replace(/<(https?:[^|<>]+|mailto:[^|<>]+)>/g, '$1')
    .replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity);

/** What would notify somebody: `<!channel>`, `<!here>`, `<!everyone>`, `<!subteam^S...>`, `<@U...>`. */
export const findMentions = (text: string): string[] =>
  text.match(/<(?:!(?:channel|here|everyone|subteam\^\w+)|@[UW]\w+)(?:\|[^>]*)?>/g) ?? [];
