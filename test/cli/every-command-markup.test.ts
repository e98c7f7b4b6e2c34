/**
 * Every command that prints what others wrote, on one world whose names, messages, mutes and refusals move the cursor, turn
 * lines around, hide, and begin lines that look like a command's own.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startWorld } from '../scenario/world.ts';
import { casesOf } from '../support/attack-cases.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

const FAKED = 'ok  nothing needs a look';
/** Clears the screen, retitles the window, turns the line around, hides a tag; then ends the line in every way there is. */
const EVIL = `Vault \u001b[2J\u001b]0;x\u0007\u009b1A\u202e\u{e0041}\u200b\u007f${[
  '\n',
  '\r',
  '\v',
  '\f',
  '\u0085',
  '\u2028',
  '\u2029',
]
  .map((end) => `${end}${FAKED}`)
  .join('')}`;
const UNSAFE = /(?![\n\t])\p{Cc}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u;

test('no command passes it on to the terminal', async () => {
  const world = await startWorld({ names: [EVIL], kinds: ['slack', 'webhook'] });
  const { service, receivers } = world.sandbox;
  receivers.slack.script.always({ kind: 'answer', status: 200, body: { ok: false, error: EVIL } });
  receivers.webhook.script.always({ kind: 'answer', status: 410, body: EVIL });
  const { txHash } = service.insertInspection({
    ...{ protocol: EVIL, assessment: 'critical', invokedMethodName: EVIL },
    assets: [{ address: EVIL, descriptor: EVIL }],
    detections: { [EVIL]: { status: 'detected', message: EVIL } },
  });
  world.notification(EVIL, EVIL);
  await world.start();
  const console = await openConsole(world);
  const listed = () => console.json<{ id: string }[]>('dead', 'list');
  await until('a delivery is dead', async () => (await listed()).length > 0);
  const [dead] = await listed();
  const [inspection] = service.inspections();
  const muted = await console.run('mute', 'add', '--protocol', EVIL, '--for', '1h', '--reason', EVIL, '--author', EVIL);
  const html = await mkdtemp(join(tmpdir(), 'tocsin-preview-'));
  onTestFinished(() => rm(html, { recursive: true }));

  const commands: string[][] = [
    ['status'],
    ['check', '--online'],
    ['trace', txHash],
    ['trace', EVIL],
    ['dead', 'list'],
    ['dead', 'show', dead?.id ?? ''],
    ['dead', 'retry', EVIL],
    ['dead', 'drop', '--protocol', EVIL],
    ['mute', 'list'],
    ['mute', 'end', EVIL],
    ['destinations', 'list'],
    ['destinations', 'approve', EVIL],
    ['cursor', 'show'],
    ['cursor', 'show', '--protocol', EVIL],
    ['daemons', 'list'],
    ['daemons', 'forget', EVIL],
    ['replay', '--since', '1h', '--dry-run'],
    ['replay', '--since', '1h', '--protocol', EVIL, '--dry-run'],
    ['backtest', '--since', '1h'],
    ['audit', '--since', '1h', '--dry-run'],
    ['watch', '--for', '100ms'],
    ['protocols', 'list'],
    ['protocols', 'history', EVIL],
    ['inspections', 'list', '--protocol', EVIL],
    ['inspections', 'stats', '--protocol', EVIL],
    ['settings', '--protocol', EVIL],
    ['notifications', '--protocol', EVIL],
    ['preview', '--protocol', EVIL],
    ['preview', '--protocol', EVIL, '--id', inspection?._id ?? '', '--kind', 'email', 'telegram', 'slack', 'webhook'],
    ['test', '--timeout', '1s', '--protocol', EVIL],
    ['webhook', 'sample', '--url', `https://x.example/${EVIL}`],
    ['webhook', 'verify', EVIL],
    ['reload', '--timeout', '100ms'],
    [EVIL],
    ['status', EVIL],
    ['status', `--${EVIL}`],
  ];
  // What an operator typed is said again as it was typed.
  const isTyped = (command: readonly string[]): boolean => command.slice(0, 3).some((word) => word.endsWith(EVIL));
  const found: string[] = [];
  let shown = 0;
  for (const command of commands) {
    for (const json of [[], ['--json']]) {
      const { out, err } = await console.run(...command, ...json);
      const what = JSON.stringify([...command, ...json]).slice(0, 60);
      if (`${out}${err}`.includes('Vault')) shown += 1;
      if (UNSAFE.test(`${out}${err}`)) found.push(`${what} passes it on`);
      if (!isTyped(command) && `${out}\n${err}`.split('\n').some((line) => line.startsWith(FAKED)))
        found.push(`${what} has a faked line`);
    }
  }
  expect(commands.length * 2).toBeGreaterThanOrEqual(casesOf(import.meta.filename));
  expect(found).toEqual([]);
  expect(muted.out).not.toMatch(UNSAFE);
  // Most of them show it, with what is unseen in sight.
  expect(shown).toBeGreaterThan(40);
});
