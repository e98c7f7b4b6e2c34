/**
 * Two questions, for two askers. Does it still run (`live`)? If not, a supervisor should start it again: nothing but our
 * own loops decides that. Can it do its work (`ready`)? If not, starting it again would not help: something it depends on
 * is away, and a rollout or an operator should wait and look.
 */
import { type Condition, rowOf } from '../condition.ts';
import { ageText, iso } from '../time.ts';

interface LiveReport {
  status: 'ok' | 'stuck';
  /** `lastBeat`: ISO 8601. */
  loops: { name: string; status: 'turning' | 'stuck'; lastBeat: string }[];
}

export interface CheckReport {
  name: string;
  /** `unknown`: never proven yet, or not lately. */
  status: 'ok' | 'unknown' | 'failing';
  /** ISO 8601: since when it is so. */
  since: string;
  /** One sentence; why it fails, or what is known. */
  detail?: string | undefined;
}

interface ReadyReport {
  status: 'ok' | 'not ready';
  checks: CheckReport[];
  /** What else it has found to be wrong; absent where nothing is. */
  troubles?: Condition[];
}

export type HealthReport = LiveReport | ReadyReport;

const ageSeconds = (moment: string, now: number): number => Math.max(0, Math.round((now - Date.parse(moment)) / 1000));

/** For readers: how old each check and each beat is. */
export const withAges = (report: HealthReport, now: number): object =>
  'checks' in report
    ? { ...report, checks: report.checks.map((one) => ({ ...one, ageSeconds: ageSeconds(one.since, now) })) }
    : { ...report, loops: report.loops.map((one) => ({ ...one, silentSeconds: ageSeconds(one.lastBeat, now) })) };

interface Loop {
  boundMs: number;
  beatAt: number;
  hasTurned: boolean;
}

interface Check {
  /**
   * Given: it has to be proven again within this time, and until then the daemon is not ready. For what is used all the
   * time, the services and Redis. Left out: only a failure counts. For channels: a quiet night brings no proof and no
   * harm either, but a token that is refused must hold up a rollout.
   */
  provenWithinMs?: number | undefined;
  status: CheckReport['status'];
  /** Of the status, not of its latest repetition. */
  since: number;
  /** Of its latest repetition. */
  at: number;
  detail?: string | undefined;
}

const reportCheck = (name: string, check: Check, now: number): CheckReport => {
  const { status, since, at, provenWithinMs = Infinity, detail } = check;
  // A proof from the future, after a clock was set back, is of unknown age.
  const isStale = status === 'ok' && Math.abs(now - at) > provenWithinMs;
  if (isStale) return { name, status: 'unknown', since: iso(at), detail: 'not proven since' };
  return { name, status, since: iso(since), detail };
};

/** Names are free; `service:NAME`, `protocols:NAME`, `redis`, `channel:KIND` and the names of conditions are used. */
export const createHealth = ({ now, conditions = () => [] }: { now(): number; conditions?(): Condition[] }) => {
  const loops = new Map<string, Loop>();
  const checks = new Map<string, Check>();

  const settle = (name: string, status: Check['status'], detail?: string): void => {
    const before = checks.get(name);
    const at = now();
    // In place, as each poll proves the same again.
    if (before?.status === status) [before.at, before.detail] = [at, detail];
    else checks.set(name, { status, since: at, at, provenWithinMs: before?.provenWithinMs, detail });
  };

  return {
    /** A loop that has to beat at least every `boundMs`, beginning now. */
    watchLoop: (name: string, boundMs: number): void => {
      loops.set(name, { boundMs, beatAt: now(), hasTurned: false });
    },
    /** The loop has turned, or could not: that is excused. One that is not watched is ignored. */
    beat: (name: string, isExcused = false): void => {
      const loop = loops.get(name);
      if (loop !== undefined) loops.set(name, { ...loop, beatAt: now(), hasTurned: loop.hasTurned || !isExcused });
    },
    /** Epoch milliseconds; undefined for a loop that is not watched. */
    lastBeat: (name: string): number | undefined => loops.get(name)?.beatAt,

    /** Makes a check known before anything is known about it. */
    expect: (name: string, settings: Pick<Check, 'provenWithinMs'> = {}): void => {
      checks.set(name, { ...settings, status: 'unknown', since: now(), at: now() });
    },
    prove: (name: string): void => settle(name, 'ok'),
    /** `why` is one sentence without secrets. */
    fail: (name: string, why: string): void => settle(name, 'failing', why),
    forget: (name: string): void => {
      checks.delete(name);
    },
    known: (): ReadonlyMap<string, Check> => new Map(checks),
    /** Goes on from what another one knows of a check that is expected here, too. */
    adopt: (name: string, { provenWithinMs: _, ...known }: Check): void => {
      const own = checks.get(name);
      if (own?.status === 'unknown') checks.set(name, { ...known, provenWithinMs: own.provenWithinMs });
    },
    /** Which checks were not proven within so many milliseconds, and which loops did not turn: each in words. */
    lacking: (withinMs: number): string[] => {
      const lack = (what: string, at: number | false, boundMs = withinMs): string[] => {
        if (at === false) return [`${what} yet`];
        const agoMs = Math.abs(now() - at);
        return agoMs <= Math.max(withinMs, boundMs) ? [] : [`${what} for ${ageText(agoMs)}`];
      };
      return [
        ...[...checks].flatMap(([name, { status, at }]) => lack(`${name} was not proven`, status === 'ok' && at)),
        ...[...loops].flatMap(([name, { boundMs, beatAt, hasTurned }]) =>
          lack(`the loop ${name} has not turned`, hasTurned && beatAt, boundMs),
        ),
      ];
    },

    live: (): LiveReport => {
      const reports = [...loops].map(([name, { boundMs, beatAt }]): LiveReport['loops'][number] => {
        const status = now() - beatAt > boundMs ? 'stuck' : 'turning';
        return { name, status, lastBeat: iso(beatAt) };
      });
      return { status: reports.some(({ status }) => status === 'stuck') ? 'stuck' : 'ok', loops: reports };
    },
    ready: (): ReadyReport => {
      const reports = [...checks].map(([name, check]) => reportCheck(name, check, now()));
      const others = conditions();
      const stopping = others.filter(({ name }) => rowOf(name).stopsReady);
      // An unknown one where a proof is due; a failing one always.
      const isDue = (name: string): boolean => checks.get(name)?.provenWithinMs !== undefined;
      const isBlocked = reports.some(
        ({ name, status }) => status === 'failing' || (status === 'unknown' && isDue(name)),
      );
      const stops = stopping
        .filter(({ name }) => !checks.has(name))
        .map(({ name, since = iso(now()), what }): CheckReport => ({ name, status: 'failing', since, detail: what }));
      return {
        status: stopping.length === 0 && !isBlocked ? 'ok' : 'not ready',
        checks: [...reports, ...stops],
        ...(others.length === 0 ? {} : { troubles: others }),
      };
    },
  };
};

export type Health = ReturnType<typeof createHealth>;
