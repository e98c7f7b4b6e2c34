/** Lists a service's protocols, and their assets, into the catalog. */

import { ServiceError } from '../errors.ts';
import type { MalformedItem } from '../item.ts';
import type { Admission } from './admission.ts';
import type { Catalog, CatalogChange } from './catalog.ts';

export interface ListingDependencies {
  catalog: Pick<Catalog, 'refresh' | 'refreshAssets'>;
  admission: Pick<Admission, 'admit' | 'answered' | 'failed'>;
  onListed(service: string, change: CatalogChange): void;
  /** Listed in part: the change, and what kept the rest from coming. */
  onListUnfinished(service: string, change: CatalogChange, error: ServiceError): void;
  /** What a listing has that cannot be read, or not whole. */
  onListMalformed(service: string, malformed: readonly MalformedItem[]): Promise<void>;
  onListFailed(service: string, error: unknown): void;
  onAssetsListed(service: string): void;
  onAssetsFailed(service: string, error: unknown): void;
}

/** What is asked for, to the failure detector. */
const LISTING = 'listing';

export const isHeld = (error: unknown): boolean => error instanceof ServiceError && error.reason === 'held';

export const createListing = (dependencies: ListingDependencies) => {
  const { catalog, admission } = dependencies;
  return {
    /** False where it failed or has to wait; the last good catalog stays. */
    list: async (service: string, signal: AbortSignal): Promise<boolean> => {
      if (!(await admission.admit(service, LISTING, signal)).admitted) return false;
      try {
        const change = await catalog.refresh(service, signal);
        const { unfinished, malformed = [] } = change;
        await dependencies.onListMalformed(service, malformed);
        if (unfinished === undefined) {
          admission.answered(service, LISTING);
          dependencies.onListed(service, change);
        } else {
          await admission.failed(service, LISTING, unfinished, signal);
          if (!isHeld(unfinished)) dependencies.onListUnfinished(service, change, unfinished);
        }
        return true;
      } catch (error) {
        await admission.failed(service, LISTING, error, signal);
        if (!isHeld(error)) dependencies.onListFailed(service, error);
        return false;
      }
    },
    /** Only the context of alerts depends on assets: a failure is reported, and the last ones stay. */
    listAssets: async (service: string, signal: AbortSignal): Promise<void> => {
      try {
        await catalog.refreshAssets(service, signal);
      } catch (error) {
        if (!signal.aborted && !isHeld(error)) dependencies.onAssetsFailed(service, error);
        return;
      }
      dependencies.onAssetsListed(service);
    },
  };
};
