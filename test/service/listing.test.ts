/** The listing of protocols where the service breaks it off. */
import { expect, onTestFinished, test } from 'vitest';
import { createSandboxService } from '../../src/sandbox/service/service.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClock } from '../../src/service/client.ts';
import { listAssets, listProtocols } from '../../src/service/listing.ts';
import { clientOf, failureOf, never } from './harness.ts';

const NAMES = ['Vault', 'Bridge', 'Farm', 'Pool', 'Swap'];

const setUp = async () => {
  const protocols = NAMES.map((name) => ({ name }));
  const sandbox = createSandboxService({ apiKeys: [{ apiKey: 'listing-key', protocols }] });
  onTestFinished(() => sandbox.stop());
  const client = clientOf((await sandbox.start()).url, { apiKey: createSecret('listing-key'), pageSize: 2 });
  return { sandbox, service: { client, clock: createServiceClock(Date.now) } };
};

test('a listing that breaks off gives what came, and why there is no more', async () => {
  const { sandbox, service } = await setUp();
  const wrong = { kind: 'wrong-shape', body: { message: 'database is gone' } } as const;
  sandbox.addFault({ fault: wrong, after: 2, times: Number.POSITIVE_INFINITY });
  const { protocols, unfinished } = await listProtocols(service, never);
  expect(protocols.map(({ name }) => name)).toEqual(NAMES.slice(0, 2));
  expect(unfinished).toMatchObject({ reason: 'unreadable' });
  sandbox.clearFaults();
  sandbox.addFault({ fault: { kind: 'status', status: 500 }, after: 2, times: Number.POSITIVE_INFINITY });
  const listed = await listAssets(service, never);
  expect([...listed.assets.keys()]).toEqual(NAMES.slice(0, 2));
  expect(listed.unfinished).toMatchObject({ reason: 'failed' });
  sandbox.clearFaults();
  expect(await listProtocols(service, never)).toMatchObject({ protocols: NAMES.map((name) => ({ name })) });
});

test('a listing without a first page, or one that we stop, fails', async () => {
  const { sandbox, service } = await setUp();
  sandbox.addFault({ fault: { kind: 'empty' } });
  expect((await failureOf(listProtocols(service, never))).reason).toBe('unreadable');
  const controller = new AbortController();
  sandbox.onAnswered(() => controller.abort());
  expect((await failureOf(listProtocols(service, controller.signal))).reason).toBe('aborted');
});
