/** The fields of `tocsin status --json` and `/status.json` that were released: `make check` compares the program's with them. */
export interface KeptStatus {
  version: string;
  revision?: string;
  startedAt?: string;
  now: string;
  daemons: {
    id: string;
    host: string;
    pid: number;
    version: string;
    revision?: string;
    startedAt: string;
    heardAt: string;
    isRunning: boolean;
    isMissed: boolean;
    ready: boolean;
    checks: { name: string; status: string }[];
  }[];
  services: { name: string; up: boolean; state: string; since?: string | undefined; lastError?: string | undefined }[];
  protocols: {
    service: string;
    name: string;
    channels: string[];
    sources: { source: string; cursor?: string; lagSeconds?: number; lastPoll?: string }[];
  }[];
  unwatched: { service: string; name: string; reason: string }[];
  destinations: {
    id: string;
    kind: string;
    label: string;
    name?: string | undefined;
    waiting: number;
    delivered: number;
    dead: number;
    lastSuccess?: string;
    lastError?: string;
  }[];
  hanging: string[];
  held: { id: string; kind: string; label: string; protocols: readonly string[]; since: string; waiting: number }[];
  mutes: { id: string; reason: string; from: string; until: string; hid: number }[];
  queues: { name: string; waiting: number; delayed: number; active: number; failed: number }[];
  unacknowledged?: { count: number; since?: string; isAtLeast?: boolean };
  dead: number;
  deadRemoved: number;
  troubles: { name: string; of: string; what: string; since?: string | undefined; severity: string; todo: string }[];
  problems: string[];
  needsSomebody: string[];
}
