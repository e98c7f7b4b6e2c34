/** Lines of the text part of a mail: as wide as a terminal shows them, and what somebody else says behind `> `. Pure. */

/** RFC 5322, section 2.1.1: 78, less two that a reply puts before each line. */
const COLUMNS = 76;
const MARK = '> ';

/** At spaces only, as a word that is too long may be a hash or a link. */
const wrapLine = (line: string, columns: number): string[] => {
  if (line.length <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
};

const wrapLines = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => wrapLine(line, columns));

export const wrap = (text: string): string => wrapLines(text, COLUMNS).join('\n');

/** Text from outside: no line of it can be taken for one of ours. */
export const quoted = (text: string): string =>
  wrapLines(text, COLUMNS - MARK.length)
    .map((line) => `${MARK}${line}`.trimEnd())
    .join('\n');

/** The parts that are not empty, with blank lines between them. */
export const paragraphs = (...parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`;
