/** `tocsin destinations`: which destinations may be sent to, and the approval of new ones. */
import { CHANNEL_KINDS, shownLabel } from '../alert.ts';
import { openDestinations, openEnable, openRetry } from '../app/approval.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import type { KnownDestination } from '../features/approval/destinations.ts';
import { nameOf as recordedName } from '../ledger/record.ts';
import { cleanLine, countedInWords } from '../text.ts';
import { type Action, answer, type CommandContext, type CommonOptions, EXIT } from './context.ts';
import { warnOfIdle } from './dead-change.ts';
import { type Column, renderTable, timeCell } from './table.ts';
import { type View, withView } from './with-view.ts';

const OPEN = 'destinations.gate is false: nothing is held at present';

const openApproval = (view: View, config: Config) => openDestinations({ config, ...view }, view.review);

const nameOf = (one: KnownDestination): string => cleanLine(recordedName(one));

const factsOf = ({ id, label }: KnownDestination) => ({ destination: id, to: label });

const COLUMNS: readonly Column<KnownDestination>[] = [
  { head: 'id', cell: ({ id }) => id },
  { head: 'kind', cell: ({ kind }) => kind },
  { head: 'destination', shrinks: true, cell: shownLabel },
  { head: 'state', cell: ({ state, disabled }) => (disabled ? `${state}, disabled` : state) },
  { head: 'protocols', shrinks: true, cell: ({ protocols }) => protocols.join(', ') },
  { head: 'since (UTC)', cell: ({ since }) => timeCell(since) },
  { head: 'waiting', isNumber: true, cell: ({ waiting }) => waiting },
];

export const listDestinations: Action = (options, context) =>
  withView(options, context, async (view, config) => {
    const known = await openApproval(view, config).list();
    const text = () => (known.length === 0 ? 'no destination is known yet\n' : renderTable(known, COLUMNS, context));
    answer(context, options, known, text, context.show);
    if (!config.destinations.gate) context.warn(`tocsin: ${OPEN}\n`);
    return EXIT.done;
  });

interface ApproveOptions extends CommonOptions {
  names: readonly string[];
  all?: boolean;
}

const isWaiting = ({ state }: KnownDestination): boolean => state === 'held' || state === 'new';

/** `--all` leaves revoked destinations out, and says so. */
const warnOfRevoked = (known: readonly KnownDestination[], { warn }: CommandContext): void => {
  for (const one of known.filter(({ state }) => state === 'revoked')) {
    warn(
      `tocsin: ${nameOf(one)} was revoked and is left out; to approve it all the same: tocsin destinations approve ${one.id}\n`,
    );
  }
};

const chosen = async (
  { names, all = false }: ApproveOptions,
  approval: ReturnType<typeof openApproval>,
  context: CommandContext,
) => {
  if (names.length > 0 === all) throw new UsageError('name destinations by id or label, or take --all');
  if (!all) {
    const found = await Promise.all(names.map(approval.find));
    return [...new Map(found.map((one) => [one.id, one])).values()];
  }
  const known = await approval.list();
  warnOfRevoked(known, context);
  const some = known.filter(isWaiting);
  if (some.length === 0) throw new UsageError('no destination waits for approval');
  return some;
};

const approvedText = ({ one, sent }: { one: KnownDestination; sent: number }): string => {
  const rest = sent === 0 ? '' : `, and ${countedInWords(sent, 'alert')} that were held for it are queued`;
  return `${nameOf(one)}: approved${rest}\n`;
};

export const approveDestinations: Action<ApproveOptions> = (options, context) =>
  withView(options, context, async (view, config) => {
    const approval = openApproval(view, config);
    const some = await chosen(options, approval, context);
    const sent = await approval.approve(some);
    const approved = some.map((one, index) => ({ one, sent: sent[index] ?? 0 }));
    await view.store.operatorLog.record(
      ...approved
        .filter(({ one }) => one.state !== 'approved')
        .map(({ one, sent: count }) => ({ action: 'destination-approved' as const, ...factsOf(one), sent: count })),
    );
    const data = approved.map(({ one: { id, kind, label }, ...rest }) => ({ id, kind, label, ...rest }));
    answer(context, options, data, () => approved.map(approvedText).join(''));
    if (!config.destinations.gate) context.warn(`tocsin: ${OPEN}\n`);
    const kinds = approved.filter((each) => each.sent > 0).map(({ one }) => one.kind);
    const known = CHANNEL_KINDS.filter((kind) => kinds.includes(kind));
    warnOfIdle(await openRetry({ config, ...view }).idleKinds(new Set(known)), context);
    return EXIT.done;
  });

/** Why the config itself allows a destination. */
const IN_CONFIG: Partial<Record<KnownDestination['state'], string>> = {
  config: 'is named by the config itself',
  allowed: 'fits destinations.allow',
};

export const revokeDestination: Action<{ name: string; drop?: boolean }> = (options, context) =>
  withView(options, context, async (view, config) => {
    const approval = openApproval(view, config);
    const one = await approval.find(options.name);
    const inConfig = IN_CONFIG[one.state];
    if (inConfig !== undefined) {
      const next = `take it out there first, then revoke it: nothing has changed`;
      throw new UsageError(`${nameOf(one)} ${inConfig}, so it would still get alerts; ${next}`);
    }
    const { operatorLog } = view.store;
    const drops = options.drop === true;
    // False where it was revoked before.
    const revoked = await approval.revoke(one);
    if (revoked) await operatorLog.record({ action: 'destination-revoked', ...factsOf(one) });
    if (!revoked && !drops) {
      throw new UsageError(`${nameOf(one)} is revoked already; --drop gives up the alerts that wait for it`);
    }
    const dropped = drops ? await approval.drop(one) : 0;
    if (drops) await operatorLog.record({ action: 'destination-dropped', ...factsOf(one), dropped });
    const done = [...(revoked ? ['revoked'] : []), ...(drops ? [`${countedInWords(dropped, 'alert')} given up`] : [])];
    return answer(context, options, { id: one.id, revoked, dropped }, () => `${nameOf(one)}: ${done.join(', ')}\n`);
  });

/** Sends again to a destination that had said that it wants nothing more. */
export const enableDestination: Action<{ name: string }> = ({ name, ...options }, context) =>
  withView(options, context, async ({ store }) => {
    const named = (await store.disabled.list()).filter(({ id, label }) => id === name || label === name);
    const [one, ...others] = named;
    if (one === undefined) throw new UsageError(`no destination of the name '${name}' is disabled`);
    if (others.length > 0) {
      throw new UsageError(`several destinations are called '${name}': ${named.map(({ id }) => id).join(', ')}`);
    }
    const { id, kind, label } = one;
    await openEnable(store)(id);
    await store.operatorLog.record({ action: 'destination-enabled', destination: id, to: label });
    const hint = `to send what died there: tocsin dead retry --destination ${id}`;
    return answer(context, options, { id, kind, label }, () => `${kind} ${cleanLine(label)}: enabled; ${hint}\n`);
  });
