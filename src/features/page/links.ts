/** Links to transactions. The ledger does not know an alert's chain: its protocol's contracts tell, if all are on one. */
import { type Chains, transactionLink } from '../../channels/chains.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';

export interface Linked {
  service: string;
  protocol: string;
  txHash?: string;
}

export type Entries = ReadonlyMap<string, Pick<CatalogEntry, 'assets'>>;

/** `entries` by service. Gives the fields that a report shows of a transaction. */
export const createLinker =
  (chains: Chains, entries: ReadonlyMap<string, Entries>) =>
  ({ service, protocol, txHash }: Linked): { txHash?: string; explorer?: string } => {
    if (txHash === undefined) return {};
    const assets = entries.get(service)?.get(protocol)?.assets ?? [];
    const [id, ...others] = new Set(assets.flatMap(({ chainId }) => chainId ?? []));
    const link = id === undefined || others.length > 0 ? undefined : transactionLink(chains[id], txHash);
    return { txHash, ...(link === undefined ? {} : { explorer: link }) };
  };

export type Linker = ReturnType<typeof createLinker>;
