/** The page behind the link in a mail, over real HTTP: what changes nothing, and that its token never comes into the log. */
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createAcknowledgePage, type LinkPages } from '../../../src/ops/page/acknowledge.ts';
import { createOpsServer, type OpsServer } from '../../../src/ops/server.ts';
import { until } from '../../support/until.ts';
import { REPORT } from '../report.ts';

const LINK = `${'T'.repeat(22)}.abc.${'S'.repeat(22)}`;
const FORM = 'application/x-www-form-urlencoded';

const servers: OpsServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const open = async (changes: Partial<LinkPages> = {}) => {
  const names: string[] = [];
  const refused: string[] = [];
  const warnings: object[] = [];
  const answers: Promise<unknown>[] = [];
  const links: LinkPages = {
    isSigned: async (link) => link === LINK,
    find: async () => ({
      count: 1,
      to: 'oncall@example.com',
      lines: ['Vault: critical'],
      acknowledge: async (name) => {
        names.push(name);
        return 'Acknowledged.';
      },
    }),
    onRefused: (from) => void refused.push(from),
    ...changes,
  };
  const page = createAcknowledgePage({ links, now: Date.now });
  const pages = {
    answer: (asked: Parameters<typeof page.answer>[0]) => {
      const answer = page.answer(asked);
      if (answer !== undefined) answers.push(answer.catch(() => {}));
      return answer;
    },
    stream: () => false,
  };
  const server = createOpsServer({
    ...{
      listen: '127.0.0.1:0',
      health: createHealth({ now: Date.now }),
      own: () => [],
      metrics: createMetrics({ version: '1' }),
    },
    ...{ status: async () => REPORT, pages, now: Date.now },
    log: { warn: (fields: object) => void warnings.push(fields) },
  });
  servers.push(server);
  const { url } = await server.start();
  const ask = (method: string, link = LINK, body?: string) =>
    fetch(`${url}/acknowledge/${link}`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': FORM } }),
    });
  return { url, ask, names, refused, warnings, answers };
};

test('only the form of a link of ours acknowledges', async () => {
  const { ask, names, refused } = await open();
  expect((await ask('GET')).status).toBe(200);
  expect((await ask('HEAD')).status).toBe(200);
  expect((await ask('PUT')).status).toBe(405);
  expect((await ask('POST', 'x', 'name=Eve')).status).toBe(404);
  expect((await ask('POST', `${LINK}x`, 'name=Eve')).status).toBe(404);
  expect((await ask('POST')).status).toBe(400);
  expect(refused).toHaveLength(2);
  expect(names).toEqual([]);
  expect((await ask('POST', LINK, 'name=Ann')).status).toBe(200);
  expect(names).toEqual(['Ann']);
});

test('a form that comes later is heard as well: whoever sends it is told who was first, and is in the log', async () => {
  const names: string[] = [];
  const done = 'Already acknowledged by “Ann” at 02:45:10 UTC.';
  const acknowledge = async (name: string): Promise<string> => {
    names.push(name);
    return done;
  };
  const { ask } = await open({ find: async () => ({ count: 1, to: 'x', lines: [], done, acknowledge }) });
  expect(await (await ask('GET')).text()).toContain(done);
  expect(names).toEqual([]);
  expect(await (await ask('POST', LINK, 'name=Bob')).text()).toContain(done);
  expect(names).toEqual(['Bob']);
});

test('a form that breaks off changes nothing, and is nothing for the log', async () => {
  const { url, names, warnings, answers } = await open();
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /acknowledge/${LINK} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${FORM}\r\ncontent-length: 100\r\n\r\nname=Eve`,
  );
  await until('it is asked for', () => answers.length === 1);
  socket.destroy();
  await Promise.all(answers);
  await new Promise(setImmediate);
  expect(names).toEqual([]);
  expect(warnings).toEqual([]);
});

test('where it cannot be shown, the log does not have its token', async () => {
  const { ask, warnings } = await open({ find: () => Promise.reject(new Error('redis is away')) });
  expect((await ask('GET')).status).toBe(503);
  expect(warnings).toMatchObject([{ path: '/acknowledge/…' }]);
  expect(JSON.stringify(warnings)).not.toContain('TTTT');
});
