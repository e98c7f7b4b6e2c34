/** Parcel -> channel -> outcome, through the stages below. Each is a file of this folder that bears its name. */
import type { ProcessParcel } from '../queue/queues.ts';
import { batch, dropBatch } from './batch.ts';
import { compose } from './compose.ts';
import { correlate } from './correlate.ts';
import { decide } from './decide.ts';
import { defer } from './defer.ts';
import { lookUp } from './look-up.ts';
import { pause } from './pause.ts';
import { record } from './record.ts';
import { refuse } from './refuse.ts';
import { report } from './report.ts';
import { rest } from './rest.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';
import { type AttemptInput, type AttemptRun, type DependenciesOf, DONE, type JobRun, runStages } from './stage.ts';
import { transmit } from './transmit.ts';
import { updateCircuit } from './update-circuit.ts';

/** Once a run of a job. */
export const JOB_STAGES = [refuse, lookUp, correlate, pause, batch, compose] as const;

/** Then once a message. */
export const MESSAGE_STAGES = [defer, rest, send, settle] as const;

/** In `send`, once a try of a message: to amend an earlier message is one try, to send it by itself another. */
export const ATTEMPT_STAGES = [transmit, decide, record, updateCircuit, report] as const;

export type DeliverDependencies = DependenciesOf<typeof JOB_STAGES> &
  Omit<DependenciesOf<typeof MESSAGE_STAGES>, 'attempt'> &
  DependenciesOf<typeof ATTEMPT_STAGES>;

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const attempt = async (input: AttemptInput) => {
    // Until a stage decides otherwise nothing is charged.
    const run: AttemptRun = { ...input, durationMs: 0, decision: { kind: 'stopping' } };
    return (await runStages(ATTEMPT_STAGES, run, dependencies)) ?? run.decision;
  };
  const messageDependencies = { ...dependencies, attempt };

  return async (job, signal) => {
    const run: JobRun = { job, signal, alerts: [], hasOpenBatch: false, units: [], messages: [] };
    const end = await runStages(JOB_STAGES, run, dependencies);
    if (end) return end;
    for (const message of run.messages) {
      const verdict = await runStages(MESSAGE_STAGES, message, messageDependencies);
      if (verdict) return verdict;
    }
    await dropBatch(run.job, dependencies);
    return DONE;
  };
};
