/** The spans of an alert's trace: from its read to the queue, each attempt to deliver it, and what became of it. */
import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  context,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type IdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import { BullMQOtel } from 'bullmq-otel';
import type { Logger } from 'pino';
import type { Alert } from '../alert.ts';
import { orUndefined } from '../errors.ts';
import { contentId } from '../item.ts';
import { createRareWarning } from '../rarely.ts';
import { shorten } from '../text.ts';
import type { Build } from '../version.ts';
import type { ReportedAttempt } from './delivery-report.ts';

const LONGEST = 300;
/** Thousands of spans wait while the collector is away, and names and ids come from the service. */
export const LONGEST_ATTRIBUTE = 256;

/** A copy where it is cut: a part of a text keeps the whole one in memory. */
export const attributeText = (text: string): string =>
  text.length <= LONGEST_ATTRIBUTE ? text : Buffer.from(shorten(text, LONGEST_ATTRIBUTE)).toString();

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * An error comes as JSON, with its stack and with what the collector answered: that may be long, and may repeat the headers
 * with which we asked, as with a key.
 */
export const traceFault = (text: string): string => {
  const error = orUndefined<unknown>(() => JSON.parse(text));
  if (typeof error !== 'object' || error === null) return shorten(text, LONGEST);
  const { message, name, code } = error as { message?: unknown; name?: unknown; code?: unknown };
  const said = textOf(message) || textOf(name) || 'no answer';
  return shorten(textOf(code) === '' ? said : `${said} (${textOf(code)})`, LONGEST);
};

/** Of one page or one digest, so many alerts have spans; the rest only counts in their attributes. */
const MOST_ALERTS = 100;
/** Spans that wait for the collector; more are dropped. */
const MOST_WAITING = 4096;
const FAREWELL_MS = 3000;
const NAME = 'tocsin';

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** The root span's id is that of its alert, so that every daemon knows it without having been told. */
const rootSpanId = (alertId: string): string => contentId('root span', alertId).slice(0, 16);

/** Ids at random, but for the root span that is begun next. */
const createIds = (): IdGenerator & { next?: string } => {
  const ids: IdGenerator & { next?: string } = {
    generateTraceId: () => ids.next ?? hex(16),
    generateSpanId: () => (ids.next === undefined ? hex(8) : rootSpanId(ids.next)),
  };
  return ids;
};

const underRoot = (alertId: string) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId: alertId,
    spanId: rootSpanId(alertId),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });

/** The BullMQ job that runs now; none where those are not traced. */
const jobLink = (): Link[] => {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? [] : [{ context: active }];
};

const spansOf = (tracer: Tracer, ids: ReturnType<typeof createIds>, now: () => number) => ({
  /** These alerts are durably queued; `beganAt`: when their dispatch began, in epoch milliseconds. */
  dispatched: (alerts: readonly Alert[], beganAt: number): void => {
    const endTime = now();
    const links = jobLink();
    for (const { id, service, protocol, source, type, itemId, txHash, readAt } of alerts.slice(0, MOST_ALERTS)) {
      ids.next = id;
      const attributes: Attributes = {
        ...{ 'tocsin.service': service, 'tocsin.protocol': attributeText(protocol), 'tocsin.source': source },
        'tocsin.item': attributeText(itemId),
        ...(txHash === undefined ? {} : { 'tocsin.transaction': attributeText(txHash) }),
        'tocsin.alerts': alerts.length,
      };
      const startTime = readAt === undefined ? beganAt : Date.parse(readAt);
      tracer
        .startSpan(`read ${type}`, { kind: SpanKind.CONSUMER, root: true, startTime, attributes, links })
        .end(endTime);
      delete ids.next;
    }
  },
  /** An attempt has just ended. */
  attempted: ({ kind, destination, alerts, ...attempt }: ReportedAttempt): void => {
    const endTime = now();
    const links = jobLink();
    const { outcome, reason, code, providerId } = attempt;
    const attributes: Attributes = {
      ...{ 'tocsin.channel': kind, 'tocsin.destination': destination.id, 'tocsin.outcome': outcome },
      ...{ 'tocsin.attempt': attempt.attempt, 'tocsin.alerts': alerts.length },
      ...(reason === undefined ? {} : { 'error.type': reason }),
      ...(code === undefined ? {} : { 'tocsin.code': attributeText(code) }),
      ...(providerId === undefined ? {} : { 'messaging.message.id': attributeText(providerId) }),
    };
    for (const { id } of alerts.slice(0, MOST_ALERTS)) {
      const startTime = endTime - attempt.durationMs;
      const span = tracer.startSpan(
        `deliver ${kind}`,
        { kind: SpanKind.CLIENT, startTime, attributes, links },
        underRoot(id),
      );
      if (outcome !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    }
  },
  /** Something else has just happened to these alerts, which took no time. */
  happened: (name: 'fallback' | 'acknowledge', alerts: readonly Alert['id'][], attributes: Attributes): void => {
    const at = now();
    const options = { startTime: at, attributes: { ...attributes, 'tocsin.alerts': alerts.length }, links: jobLink() };
    for (const id of alerts.slice(0, MOST_ALERTS)) tracer.startSpan(name, options, underRoot(id)).end(at);
  },
});

export interface TracingSettings {
  /** Whether BullMQ reports its jobs and its housekeeping, too: dozens of traces a minute where nothing happens. */
  hasQueues: boolean;
  build: Build;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

export const createTracing = ({ hasQueues, build: { version, revision }, log, now }: TracingSettings) => {
  const warn = createRareWarning({ log, text: 'traces cannot be sent', now });
  const ignore = (): void => {};
  const logger = {
    error: (why: string) => warn({ why: traceFault(why) }),
    warn: ignore,
    info: ignore,
    debug: ignore,
    verbose: ignore,
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const ids = createIds();
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), maxQueueSize: MOST_WAITING });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': NAME,
          'service.version': version,
          ...(revision !== undefined && { 'vcs.ref.head.revision': revision }),
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: ids,
    spanProcessors: [processor],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const { promise: late, resolve } = Promise.withResolvers<void>();
  return {
    ...spansOf(provider.getTracer(NAME, version), ids, now),
    telemetry: hasQueues ? new BullMQOtel({ tracerName: NAME, version }) : undefined,
    /** Sends what is left, for a few seconds at most. */
    stop: async (): Promise<void> => {
      const timer = setTimeout(resolve, FAREWELL_MS);
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
      trace.disable();
      context.disable();
    },
  };
};

export type Tracing = ReturnType<typeof createTracing>;
