import { describe, expect, test } from 'vitest';
import { showPath } from '../../src/config/problems.ts';
import { changesOf, needsRestart } from '../../src/config/source.ts';
import { CHANNELS, read, SERVICE, SMALL } from './samples.ts';

const changed = (before: string, after: string): string[] => changesOf(read(before), read(after)).map(showPath);

describe('what has changed', () => {
  test.each([
    ['nothing', SMALL, `# a comment\n${SMALL}`, []],
    ['a default that is written down', SMALL, `${SMALL}poll: { lookback: 15m }\n`, []],
    ['a key of a section', SMALL, `${SMALL}poll: { lookback: 20m, overlap: 4s }\n`, ['poll.overlap', 'poll.lookback']],
    ['what is read out of a text', SMALL, `${SMALL}poll: { startFrom: 2h }\n`, ['poll.startFrom']],
    ['a list', SMALL, `${SMALL}alerts: { assessments: [critical, ok] }\n`, ['alerts.assessments']],
    ['a secret', SMALL, SMALL.replace('key-1', 'key-2'), ['services.main.apiKey']],
    [
      'a list of secrets',
      `${SERVICE}\nchannels: { webhook: { secret: [${hook(1)}, ${hook(2)}] } }\n`,
      `${SERVICE}\nchannels: { webhook: { secret: [${hook(1)}, ${hook(3)}] } }\n`,
      ['channels.webhook.secret'],
    ],
    [
      'a service that is new',
      SMALL,
      `${SERVICE.replace('[', '[{ name: new, baseUrl: "https://b.example.com", apiKey: k }, ')}\n${CHANNELS}\n`,
      ['services.new'],
    ],
    [
      'a channel kind that is gone',
      `${SERVICE}\nchannels: { webhook: {}, slack: { botToken: xoxb-1 } }\n`,
      `${SERVICE}\nchannels: { webhook: {} }\n`,
      ['channels.slack'],
    ],
  ])('%s', (_, before, after, paths) => {
    expect(changed(before, after)).toEqual(paths);
  });
});

function hook(n: number): string {
  return `whsec_${Buffer.from(`the secret number ${n} of this test`).toString('base64')}`;
}

test('what is opened once, at the start, needs a restart', () => {
  const paths = changesOf(
    read(SMALL),
    read(
      `${SMALL}redis: { url: "redis://elsewhere" }\ndataDir: /else\nops: { listen: "127.0.0.1:1", probes: "127.0.0.1:2", publicUrl: "https://x.example.com" }\n`,
    ),
  );
  expect(paths.filter(needsRestart).map(showPath)).toEqual(['redis.url', 'dataDir', 'ops.listen', 'ops.probes']);
  expect(paths.map(showPath)).toContain('ops.publicUrl');
});
