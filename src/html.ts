/** HTML that cannot be broken by what is put into it: every value is escaped, unless it was made here. */

/** Finished HTML. */
export interface Html {
  html: string;
}

type Piece = string | number | Html | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of any origin as HTML, for an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const CHARACTERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ENTITIES).map(([character, entity]) => [entity, character]),
);

/** What `escapeHtml` has made, as it was. */
export const unescapeHtml = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);

const toHtml = (piece: Piece): string => {
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string') return escapeHtml(piece);
  return 'html' in piece ? piece.html : piece.map(({ html }) => html).join('');
};

/** A template of HTML. Values stand between tags or inside quoted attributes. */
export const html = ({ raw }: TemplateStringsArray, ...pieces: Piece[]): Html => ({
  html: raw.map((text, index) => text + toHtml(pieces[index] ?? '')).join(''),
});
