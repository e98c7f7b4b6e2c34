/** What a format of webhooks is: it composes requests and reads answers. It sends nothing; `transport.ts` does. */
import type { Alert, Destination, Parcel } from '../../../alert.ts';
import { mapSliced, type Sliced } from '../../../chunks.ts';
import type { Secret } from '../../../secret.ts';
import type { ComposeContext, Message, Reader } from '../../channel.ts';
import { jsonObjectIn, textIn } from '../../content/foreign.ts';
import type { DigestFile } from '../../digest-content.ts';
import type { Verdict } from '../../failures.ts';
import type { PostResponse } from '../../http.ts';
import { toMessage } from '../../incidents.ts';

/** One POST, without anything secret. */
export interface WebhookRequest {
  /** The exact text that is sent, and signed where it is. */
  text: string;
  /** Goes behind the path of the receiver's URL. Default: nothing. */
  path?: string;
  /** Default: POST. */
  method?: 'PUT' | 'PATCH';
  /** Beside the message, where the vendor takes files. */
  file?: DigestFile;
}

/**
 * A message. Several requests are sent one after the other; the first is the one that matters most. None: there is nothing
 * that the receiver has to be told.
 */
export type WebhookBody = readonly WebhookRequest[];

export interface Credentials {
  routingKey?: Secret | undefined;
  apiKey?: Secret | undefined;
}

/**
 * One format: what is true of it, how it composes, and what its vendor's answers mean. All of it is pure; `transport.ts`
 * sends. Each format's file names the vendor's documents.
 */
export interface FormatModule {
  contentType: string;
  /** By Standard Webhooks, with every secret. The others are signed only where a secret is meant for that receiver. */
  isSigned?: true;
  /** Default: programs. */
  reader?: Reader;
  compose(parcel: Parcel, context: ComposeContext, options: { batch: number }): Sliced<Message<WebhookBody>[]>;
  /** Puts in what only this receiver has. Default: the text goes to the receiver's URL as it is. */
  complete?(
    request: WebhookRequest,
    receiver: { address: string; credentials: Credentials },
  ): { url?: string; text?: string; headers?: Record<string, string> };
  /** The vendor's id of what it took; undefined where the answer has none. */
  idIn?(response: PostResponse): string | undefined;
  /** The request that puts a message in the place of the one of this id. Left out: the vendor cannot do that. */
  amending?(request: WebhookRequest, id: string): WebhookRequest;
  /** What an answer means, where the vendor says more than HTTP does. */
  verdictOf?(response: PostResponse): Verdict | undefined;
}

export const requestOf = (content: object): WebhookRequest => ({ text: JSON.stringify(content) });

/** One message for each alert. */
export const composeEach =
  (bodyOf: (alert: Alert, destination: Destination, context: ComposeContext) => WebhookBody): FormatModule['compose'] =>
  ({ destination, alerts }, context) =>
    mapSliced(alerts, (alert) => toMessage(destination, [alert], bodyOf(alert, destination, context), false));

/** The URL without its query: there an operator may tell apart receivers that share one URL. */
export const withoutQuery = (address: string, path = ''): string => {
  const url = new URL(address);
  url.search = '';
  const [own = '', query = ''] = path.split('?');
  if (own !== '') url.pathname = `${url.pathname.replace(/\/+$/, '')}${own}`;
  url.search = query;
  return url.href;
};

const ID = /^[\w.:-]{1,100}$/;

/** What a JSON answer has under a key, if it can be an id. */
export const idAt =
  (key: string): NonNullable<FormatModule['idIn']> =>
  ({ text }) => {
    const id = textIn(jsonObjectIn(text)[key]);
    return ID.test(id) ? id : undefined;
  };
