/** Expressions for a page into which axe-core was loaded: what of it somebody cannot read or use, and where. */

const found = (options: string): string =>
  `axe.run({ resultTypes: ['violations']${options} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).slice(0, 3).join(' ')))`;

export const UNREADABLE = found('');

/** Only what may differ from one color scheme to the other. */
export const UNREADABLE_COLORS = found(`, runOnly: ['color-contrast', 'link-in-text-block']`);
