/**
 * CloudEvents 1.0 in the structured mode of its HTTP binding, one event for each alert. Source:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md and .../formats/json-format.md
 */
import type { Alert, Destination } from '../../../alert.ts';
import { deliveryId } from '../../../item.ts';
import { cleanLine, shorten } from '../../../text.ts';
import { iso, parseTime } from '../../../time.ts';
import type { ComposeContext } from '../../channel.ts';
import { composeEach, type FormatModule, requestOf } from './format.ts';
import { payloadOf } from './standard.ts';

const SUBJECT_LIMIT = 200;
const TYPE_LIMIT = 200;

/** Types of events begin with the name of who defines them. An assessment in it is from outside. */
const typeOf = (type: string): string => {
  const word = shorten(cleanLine(type), TYPE_LIMIT);
  return word.startsWith('tocsin.') ? word : `tocsin.${word}`;
};

const eventOf = (alert: Alert, destination: Destination, context: ComposeContext): object => {
  const { type, data } = payloadOf(alert, destination, context.format === 'rich', context);
  const time = parseTime(alert.at);
  return {
    specversion: '1.0',
    id: deliveryId(alert.id, destination.id),
    source: `/tocsin/services/${encodeURIComponent(alert.service.toWellFormed())}`,
    type: typeOf(type),
    subject: shorten(cleanLine(alert.protocol), SUBJECT_LIMIT) || undefined,
    time: Number.isNaN(time) ? undefined : iso(time),
    datacontenttype: 'application/json',
    data,
  };
};

export const cloudevents: FormatModule = {
  contentType: 'application/cloudevents+json; charset=utf-8',
  isSigned: true,
  compose: composeEach((...about) => [requestOf(eventOf(...about))]),
};
