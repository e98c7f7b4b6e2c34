/** Copies what operators did by commands into the daemon's own log. */
import type { Logger } from 'pino';
import type { OperatorLog, RecordedAction } from '../../ledger/operator-log.ts';

const MESSAGES: Record<RecordedAction['action'], string> = {
  'mute-begun': 'a mute has begun',
  'mute-extended': 'a mute was extended',
  'mute-ended': 'a mute was ended by hand',
  'remark-known': 'a remark was marked as known',
  'remark-counted': 'a remark is no longer marked as known',
  'destination-approved': 'a destination was approved',
  'destination-revoked': 'a destination was revoked',
  'destination-dropped': 'alerts for a destination were dropped',
  'destination-enabled': 'a destination was enabled',
  'cursor-moved': 'a cursor was moved',
  'dead-retried': 'dead deliveries were sent again',
  'dead-dropped': 'dead deliveries were dropped',
  'daemon-forgotten': 'a daemon that was missed is forgotten',
  'test-sent': 'a test message was sent',
  acknowledged: 'alerts were acknowledged',
  replayed: 'history was replayed',
};

interface OperatorLogDependencies {
  operatorLog: Pick<OperatorLog, 'end' | 'after'>;
  log: Pick<Logger, 'info'>;
}

/** In the log `to` is a list wherever it stands. */
const lineOf = (facts: Omit<RecordedAction, 'action'>): object =>
  'to' in facts ? { ...facts, to: [facts.to] } : facts;

/** A newer command may record what this version has no words for. */
export const actionText = ({ action }: Pick<RecordedAction, 'action'>): string =>
  MESSAGES[action] ?? `an operator's command: ${action}`;

/** Gives what logs everything recorded since it was last called; the first call logs nothing. */
export const createOperatorLogReader = ({ operatorLog, log }: OperatorLogDependencies) => {
  let position: string | undefined;

  return async (): Promise<void> => {
    if (position === undefined) {
      position = await operatorLog.end();
      return;
    }
    const { actions, position: next } = await operatorLog.after(position);
    position = next;
    for (const { action, ...facts } of actions) log.info(lineOf(facts), actionText({ action }));
  };
};
