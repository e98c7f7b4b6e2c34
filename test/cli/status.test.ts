/** `tocsin status` says what the daemons know, and ends with 2 where something needs somebody. */
import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/ops/status.ts';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { startWorld } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

const setUp = async (onFinished: (stop: () => Promise<void>) => void) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['slack'] });
  const console = await openConsole(world);
  /** The report as scripts get it, with the command's exit code. */
  const report = async (): Promise<StatusReport & { code: number }> => {
    const { code, out } = await console.run('status', '--json');
    return { code, ...(JSON.parse(out) as StatusReport) };
  };
  const endsWith = (code: number) => until(`status ends with ${code}`, async () => (await report()).code === code);
  return { world, console, report, endsWith };
};

test.concurrent('a service that went down is told as down, with why and since when, and again as up', async ({
  onTestFinished: onFinished,
}) => {
  const { world, console, report, endsWith } = await setUp(onFinished);
  await world.start();
  await until('the daemon is ready', async () => (await report()).daemons.some(({ ready }) => ready));
  expect(await report()).toMatchObject({
    code: 0,
    services: [{ name: 'sandbox', up: true, state: 'answers' }],
    daemons: [{ pid: process.pid, isRunning: true, ready: true }],
    needsSomebody: [],
  });

  await world.sandbox.service.stop();
  await endsWith(2);
  const { services, needsSomebody } = await report();
  expect(services).toMatchObject([{ name: 'sandbox', up: false, state: 'fails', lastError: expect.any(String) }]);
  expect(needsSomebody).toEqual([
    expect.stringMatching(/^the monitoring service “sandbox” cannot be read since \d{4}-.*: /),
  ]);
  const { out } = await console.run('status');
  expect(out).toContain('cannot be read since');
  expect(out).toContain('To do: see whether the service answers');
  expect(out).not.toMatch(/sandbox +answers/);

  await world.sandbox.service.start();
  await endsWith(0);
});

test.concurrent('where no daemon runs, nobody claims that a service answers', async ({
  onTestFinished: onFinished,
}) => {
  const { world, console, report, endsWith } = await setUp(onFinished);
  expect(await report()).toMatchObject({
    code: 2,
    daemons: [],
    services: [{ name: 'sandbox', up: false, state: 'unknown' }],
    needsSomebody: ['no daemon runs, and none has reported lately'],
  });
  const [first, second] = [await world.start(), await world.start()];
  await until('both report', async () => (await report()).daemons.filter((one) => one.isRunning).length === 2);
  await endsWith(0);
  await first.stop();
  expect(await report()).toMatchObject({ code: 0, daemons: [{ isRunning: true }] });
  await second.stop();
  expect(await report()).toMatchObject({ code: 2, daemons: [] });
  const { code, out } = await console.run('status');
  expect(code).toBe(2);
  expect(out).toMatch(/Needs a look\n {2}no daemon runs/);
});

test.concurrent('a channel that is refused needs somebody, and so do dead letters', async ({
  onTestFinished: onFinished,
}) => {
  const { world, report, endsWith } = await setUp(onFinished);
  const { callScript, script } = world.sandbox.receivers.slack;
  const mend = callScript.always(slackError('invalid_auth'));
  const daemon = await world.start();
  await endsWith(2);
  const { needsSomebody } = await report();
  expect(needsSomebody).toEqual([expect.stringMatching(/^slack does not work since .*: .*invalid_auth/)]);
  mend();
  await daemon.stop();

  script.always(slackError('channel_not_found'));
  await world.start();
  await endsWith(0);
  world.critical('Vault');
  // The dead letter is counted before its destination is known to be broken.
  await until('it is dead, and why is told', async () => {
    const { code, dead, needsSomebody } = await report();
    const isTold = needsSomebody.some((text) => / takes no alerts since .*channel_not_found/.test(text));
    return code === 2 && dead === 1 && isTold;
  });
});
