/** Where daemons on one Redis keep the sessions that were ended. */
import type { EndedSessions } from '../../../src/ops/page/session.ts';

export const endedIn = (kept = new Set<string>()): EndedSessions => ({
  add: async (id) => void kept.add(id),
  has: async (id) => kept.has(id),
});
