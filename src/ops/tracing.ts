/** OpenTelemetry traces: off unless the standard environment variables name an endpoint. */
import type { Alert } from '../alert.ts';
import type { Tracing, TracingSettings } from './spans.ts';

export type { Tracing };

/** What OpenTelemetry's own variables say; its other ones (headers, certificates, timeouts, resource) hold as well. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

const isOn = (env: Environment): boolean =>
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && ENDPOINTS.some((name) => (env[name] ?? '') !== '');

/** What is traced besides alerts. */
const enabled = ({ OTEL_NODE_ENABLED_INSTRUMENTATIONS: names = '' }: Environment): string[] =>
  names.split(',').map((name) => name.trim());

/** The trace of an alert has its id: who knows the alert knows its trace, in the ledger, the log and `tocsin trace`. */
export const traceIdOf = ({ id }: Pick<Alert, 'id'>): string => id;

/** Undefined where no endpoint is named. The SDK is loaded only where one is. */
export const openTracing = async (
  env: Environment,
  settings: Omit<TracingSettings, 'hasQueues'>,
): Promise<Tracing | undefined> => {
  if (!isOn(env)) return undefined;
  const { createTracing } = await import('./spans.ts');
  return createTracing({ ...settings, hasQueues: enabled(env).includes('bullmq') });
};
