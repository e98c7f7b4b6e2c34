/** A log that keeps its lines. */

export interface Line {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  message: string;
}

export const createLines = () => {
  const lines: Line[] = [];
  const at =
    (level: Line['level']) =>
    (fields: object, message = ''): void => {
      // As pino leaves them out.
      const given = Object.entries(fields).filter(([, value]) => value !== undefined);
      lines.push({ level, fields: Object.fromEntries(given), message });
    };
  const levels = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, log: { ...levels, isLevelEnabled: () => true } };
};
