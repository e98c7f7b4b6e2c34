/**
 * What a tool for people on call does with an alert: it keeps one incident for each transaction. Whatever is found in the
 * transaction raises it, a follow-up changes it, and it is cleared when the service calls nothing of it bad any more. Good
 * news opens none: where nothing is known to be open, a follow-up that plays down says nothing.
 */
import {
  type Alert,
  type Destination,
  isAnnouncement,
  isPlayedDown,
  isSample,
  type SentInspection,
} from '../../../alert.ts';
import { incidentId } from '../../../item.ts';
import { namesText, shorten } from '../../../text.ts';
import type { ComposeContext } from '../../channel.ts';
import { inlineName } from '../../content/foreign.ts';
import { assessmentWord } from '../../content/severity.ts';
import { EVENT_SEVERITIES, type EventSeverity, endedBy, severityOf, severityOfAssessment } from './event.ts';
import { composeEach, type FormatModule, type WebhookBody } from './format.ts';
import { type Briefing, briefingOf } from './outline.ts';

interface Change {
  /** The same for everything about one transaction at a destination, however often it is sent. Letters, digits, `_`, `.`. */
  key: string;
  act: 'raise' | 'change' | 'acknowledge' | 'clear';
  /** Of the whole incident, as it is now. */
  severity: EventSeverity;
  /** What it was before a change. */
  before?: EventSeverity;
  /** Of what the alert is about. */
  own: EventSeverity;
  /** What else of the transaction is there, or on its way, and still bad. */
  others: readonly SentInspection[];
}

const severityOfSent = ({ assessment }: SentInspection): EventSeverity =>
  assessment === undefined ? 'info' : severityOfAssessment(assessment);

const worstOf = (severities: readonly EventSeverity[]): EventSeverity =>
  EVENT_SEVERITIES.find((one) => severities.includes(one)) ?? 'info';

/**
 * By an inspection or a stored notification, as news; undefined where nothing changes. `all`: what the destination has of its
 * transaction.
 */
const changeOf = (
  alert: Alert,
  destination: Destination,
  all: readonly SentInspection[] | undefined,
): Change | undefined => {
  const { id, followUp, txHash } = alert;
  const first = followUp?.of ?? id;
  const known = all?.find((one) => one.alert === first);
  const others = (all ?? []).filter((one) => one.alert !== first && severityOfSent(one) !== 'info');
  const withOthers = (one: EventSeverity) => worstOf([one, ...others.map(severityOfSent)]);
  // Of two follow-ups the later may be sent first.
  const own = followUp && known ? severityOfSent(known) : severityOf(alert);
  const severity = withOthers(own);
  const change = { key: incidentId(txHash ?? first, destination.id), severity, own, others };
  if (followUp === undefined) return { ...change, act: 'raise' };
  if (severity === 'info') return { ...change, act: 'clear' };
  if (!isPlayedDown(alert)) return { ...change, act: 'raise' };
  const isOpen = all === undefined || all.some(({ isSent }) => isSent);
  return isOpen ? { ...change, act: 'change', before: withOthers(severityOfAssessment(followUp.was)) } : undefined;
};

const incidentOf = (
  alert: Alert,
  destination: Destination,
  { sentInspections }: ComposeContext,
): Change | undefined => {
  const { id, type, txHash, below = id, replay } = alert;
  const own = severityOf(alert);
  const alone = (subject: string) => ({
    ...{ key: incidentId(subject, destination.id), severity: own, own, others: [] },
  });
  const ended = endedBy(alert);
  if (ended !== undefined) return { ...alone(ended), act: 'clear' };
  if (type === 'tocsin.alert.acknowledged') return { ...alone(txHash ?? below), act: 'acknowledge' };
  if (isSample(alert) || isAnnouncement(alert)) return { ...alone(id), act: 'raise' };
  // What is over wakes nobody, and changes nothing that is open.
  if (replay) return { ...alone(`replay ${txHash ?? id}`), act: 'raise', severity: 'info' };
  return changeOf(alert, destination, txHash === undefined ? undefined : sentInspections?.get(txHash));
};

const wordOf = ({ assessment = '' }: SentInspection): string => assessmentWord(assessment).toUpperCase();

const SUMMARY_LIMIT = 1000;

/** One line: how bad the whole is, of how many protocols, what this alert says, and what else there is. */
const summaryOf = ({ content, outline, alert }: Briefing, { act, severity, own, others }: Change): string => {
  if (others.length === 0 || act === 'clear') return outline.summary;
  const { word, where, said } = content;
  const isWell = own === 'info';
  const protocols = new Set([...(isWell ? [] : [alert.protocol]), ...others.map(({ protocol }) => protocol)]);
  const worst = others.find((one) => own !== severity && severityOfSent(one) === severity);
  const count = protocols.size > 1 ? `${protocols.size} protocols · ` : '';
  const head = `${worst ? wordOf(worst) : word} · ${count}one transaction`;
  // What is bad comes first.
  if (isWell) return shorten(`${head}: still ${namesText([...protocols])}; ${word} · ${where}: ${said}`, SUMMARY_LIMIT);
  const [, ...names] = protocols;
  const rest = names.length === 0 ? '' : `; also ${namesText(names)}`;
  const happened = `${head}: ${worst ? `${word} · ` : ''}${where}: ${said}`;
  return `${shorten(happened, SUMMARY_LIMIT - rest.length)}${rest}`;
};

/** What a format makes into requests. */
export interface Incident extends Briefing, Change {
  summary: string;
}

const OTHERS_MAX = 1000;

const naming = (briefing: Briefing, others: readonly SentInspection[]): Briefing => {
  if (others.length === 0) return briefing;
  const named = others.map((one) => `${inlineName(one.protocol)}: ${wordOf(one)}`).join('; ');
  const detail = ['Also in this transaction', shorten(named, OTHERS_MAX)] as const;
  return { ...briefing, words: { ...briefing.words, details: [detail, ...briefing.words.details] } };
};

/** One message for each alert: what its incident is told of it. Empty where that is nothing. */
export const composeIncidents = (
  requestsFor: (incident: Incident, context: ComposeContext) => WebhookBody,
): FormatModule['compose'] =>
  composeEach((alert, destination, context) => {
    const change = incidentOf(alert, destination, context);
    if (change === undefined) return [];
    const briefing = naming(briefingOf(alert, context), change.others);
    return requestsFor({ ...briefing, ...change, summary: summaryOf(briefing, change) }, context);
  });
