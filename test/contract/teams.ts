import { createTeamsReceiver } from '../../src/sandbox/receivers/formats/teams.ts';
import { readTeams } from '../support/teams-reader.ts';
import { vendorContestant } from './vendor.ts';

export const teamsContestant = vendorContestant({
  format: 'teams',
  create: createTeamsReceiver,
  show: readTeams,
  other: '&channel=other',
  secrets: ['sandbox-signature', '6a1f7d40c2b04c7d9a7e3b1c5d2f8e90'],
  givesNoId: true,
  refusals: [
    {
      says: '429 with seconds',
      step: { status: 429, headers: { 'retry-after': '5' } },
      reason: 'rate-limited',
      retryAfterMs: 5000,
    },
    { says: 'a body that is none', step: { status: 400 }, reason: 'bad-message', code: '400' },
    { says: '413', step: { status: 413 }, reason: 'bad-message', code: '413' },
    { says: 'a workflow that is gone', step: { status: 404 }, reason: 'unknown', code: '404' },
    { says: '401', step: { status: 401 }, reason: 'unknown', code: '401' },
    { says: '504', step: { status: 504 }, reason: 'unavailable', code: '504', maybeDelivered: true },
  ],
});
