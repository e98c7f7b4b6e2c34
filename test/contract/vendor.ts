/** What formats of webhooks for people share as contestants: the real channel, and a strict receiver of the sandbox. */
import { createGuardedPost } from '../../src/channels/http.ts';
import { webhookConfig } from '../../src/channels/webhook/config.ts';
import type { WebhookFormat } from '../../src/channels/webhook/formats/names.ts';
import { webhook } from '../../src/channels/webhook/module.ts';
import { createWebhookChannel } from '../../src/channels/webhook/transport.ts';
import type { VendorRaw, VendorReceiver } from '../../src/sandbox/receivers/formats/vendor.ts';
import type { HttpAnswer } from '../../src/sandbox/receivers/http-receiver.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Contestant, type Refusal, readOnce, type Shown } from './contestant.ts';

const NOW = Date.parse('2026-11-20T10:00:00.000Z');

export interface VendorContestant {
  format: WebhookFormat;
  create(): VendorReceiver;
  show(body: VendorRaw['body']): Shown;
  /** Added to the URL for a second destination. */
  other: string;
  secrets: readonly string[];
  refusals: readonly Refusal<HttpAnswer>[];
  givesNoId?: true;
}

export const vendorContestant = ({
  format,
  create,
  show,
  other,
  secrets,
  refusals,
  givesNoId,
}: VendorContestant): Contestant<HttpAnswer> => ({
  kind: 'webhook',
  format,
  forPeople: true,
  largestParcel: 20,
  ...(givesNoId === undefined ? {} : { givesNoId }),
  addressesOf: webhook.addressesOf,
  labelOf: webhook.labelOf,
  badEntries: [{ name: 'webhook', url: 'not a url' }],
  async open({ timeoutMs }) {
    const receiver = create();
    const { url } = await receiver.start();
    const read = readOnce(({ body }: VendorRaw) => show(body));
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
    const urls = [url, `${url}${other}`] as const;
    const receivers = Object.fromEntries(urls.map((one) => [one, { format }]));
    const config = { ...webhookConfig.parse({ receivers }), timeout: timeoutMs };
    const channel = createWebhookChannel(config, { post: guard.post, now: () => NOW });
    return {
      channel: {
        ...channel,
        close: async () => {
          await channel.close();
          await guard.close();
        },
      },
      destinations: [destinationOf('webhook', urls[0]), destinationOf('webhook', urls[1])],
      secrets,
      script: (...steps) => {
        for (const step of steps) {
          receiver.script.next(typeof step === 'string' ? { kind: step } : { kind: 'answer', ...step });
        }
      },
      arrivals: () => receiver.attempts().length,
      accepted: () => receiver.received().map(({ raw }) => read(raw)),
      stopProvider: receiver.stop,
    };
  },
  refusals,
});
