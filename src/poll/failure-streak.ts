/** Tells a protocol's own trouble from its service's, for those who go through many protocols in a row. */
import { ServiceError, type ServiceReason } from '../errors.ts';

export interface Strikes {
  worked(): void;
  failed(error: unknown): void;
  /** The service is in trouble: no more questions now. */
  isOut(): boolean;
}

/** True of every question to the service. */
const EVERYBODYS: readonly ServiceReason[] = ['unauthorized', 'limited', 'held'];
/** May be the service's; so many in a row are. */
const ANYBODYS: readonly ServiceReason[] = ['failed', 'unreachable'];
const IN_A_ROW = 5;

export const createStrikes = (): Strikes => {
  let inARow = 0;
  return {
    worked: () => {
      inARow = 0;
    },
    failed: (error) => {
      if (!(error instanceof ServiceError)) return;
      if (EVERYBODYS.includes(error.reason)) inARow = IN_A_ROW;
      if (ANYBODYS.includes(error.reason)) inARow += 1;
    },
    isOut: () => inARow >= IN_A_ROW,
  };
};
