/** The status report for a terminal: aligned columns, the problems first. */
import { ageText } from './page.ts';
import type { StatusReport } from './status.ts';

const columns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((text, index) => Math.max(widest[index] ?? 0, text.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

const section = (title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0
    ? [`${title}: none`, '']
    : [`${title}:`, ...columns([heads, ...rows]).map((line) => `  ${line}`), ''];

const ago = (at: string | undefined, now: string): string =>
  at === undefined ? 'never' : `${ageText(Math.max(0, (Date.parse(now) - Date.parse(at)) / 1000))} ago`;

export const renderStatusText = (report: StatusReport): string => {
  const { version, now, services, protocols, destinations, queues, dead, problems } = report;
  return `${[
    `Tocsin ${version}, ${now}`,
    ...services.map(
      ({ name, up, lastError }) => `service ${name}: ${up ? 'answers' : (lastError ?? 'does not answer')}`,
    ),
    '',
    ...(problems.length === 0 ? [] : ['Needs somebody:', ...problems.map((problem) => `  ${problem}`), '']),
    ...section(
      'Destinations',
      ['KIND', 'TO', 'DELIVERED', 'DEAD', 'LAST SUCCESS', 'LAST ERROR'],
      destinations.map(({ kind, label, delivered, dead: died, lastSuccess, lastError }) => [
        kind,
        label,
        String(delivered),
        String(died),
        ago(lastSuccess, now),
        lastError ?? '',
      ]),
    ),
    ...section(
      'Protocols',
      ['PROTOCOL', 'SERVICE', 'CHANNELS', 'SOURCE', 'LAST READ', 'READ UP TO'],
      protocols.flatMap(({ name, service, channels, sources }) =>
        sources.map(({ source, cursor, lastPoll }) => [
          name,
          service,
          channels.join(',') || 'none',
          source,
          ago(lastPoll, now),
          cursor ?? 'not yet',
        ]),
      ),
    ),
    ...section(
      'Queues',
      ['QUEUE', 'WAITING', 'DELAYED', 'SENDING', 'FAILED'],
      queues.map(({ name, waiting, delayed, active, failed }) => [
        name,
        ...[waiting, delayed, active, failed].map(String),
      ]),
    ),
    `Dead deliveries: ${dead}`,
  ].join('\n')}\n`;
};
