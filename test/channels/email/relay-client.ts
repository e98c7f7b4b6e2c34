/** The channel as tests of relays use it, closed after each test. */

import { inspect } from 'node:util';
import { afterEach, expect } from 'vitest';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';

export const USER = 'tocsin-relay';
export const PASS = 'pa55-s3cr3t';

/** What ends with the test, the last first. */
export const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

export const openEmail = (smtp: object, timeout = '20s') => {
  const config = emailConfig.parse({ from: 'tocsin@example.com', smtp: { host: '127.0.0.1', ...smtp }, timeout });
  const channel = createEmailChannel(config, {
    post: () => Promise.reject(new Error('not by this way')),
    now: Date.now,
  });
  closers.push(channel.close);
  return channel;
};

export const sendBy = (channel: ReturnType<typeof openEmail>, signal = new AbortController().signal) => {
  const [message] = atOnce(
    channel.compose(
      { destination: destinationOf('email', 'oncall@example.com'), alerts: [inspectionAlert()] },
      { format: 'plain', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
    ),
  );
  if (message === undefined) throw new Error('nothing composed');
  return channel.send(message, signal);
};

export const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DeliveryError)) throw error;
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASS);
  return error;
};
