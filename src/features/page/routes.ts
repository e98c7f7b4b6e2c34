/**
 * What leads where, as the page shows it: made anew only when the service lists something else, and in slices, as there
 * may be thousands of protocols and destinations.
 */
import type { Destination } from '../../alert.ts';
import type { RateLimit } from '../../channels/options.ts';
import type { DestinationDetails, PageDetails } from '../../ops/page/details.ts';
import { AT_ONCE, inSlices, mapSliced, type Sliced } from '../../slices.ts';
import type { RouteReview } from '../routes/review.ts';
import { targetName } from './alerts.ts';
import { rateText } from './words.ts';

export type RouteDetails = Pick<PageDetails, 'destinations' | 'destinationsOf'>;
export type RouteDetailsOf = () => Promise<RouteDetails>;

export interface RouteDetailsDependencies {
  review: Pick<RouteReview, 'revision' | 'destinations' | 'protocolsOf'>;
  rateOf(destination: Destination): RateLimit | undefined;
}

type Led = ReturnType<RouteReview['protocolsOf']>;

/** Names of destinations by protocol. */
function* destinationNames(all: readonly Destination[], protocols: Led): Sliced<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const [index, one] of all.entries()) {
    if (index % AT_ONCE === 0) yield;
    const name = targetName(one);
    for (const protocol of protocols.get(one.id) ?? []) {
      const known = found.get(protocol);
      if (known) known.push(name);
      else found.set(protocol, [name]);
    }
  }
  return found;
}

function* detailsOf({ review, rateOf }: RouteDetailsDependencies): Sliced<RouteDetails> {
  yield;
  const protocols = review.protocolsOf();
  yield;
  const all = review.destinations();
  const destinations = yield* mapSliced(all, (one): [string, DestinationDetails] => {
    const { id, kind, label } = one;
    const rate = rateText(rateOf(one) ?? {});
    const known = { id, kind, label, protocols: protocols.get(id)?.length ?? 0 };
    return [id, rate === '' ? known : { ...known, rate }];
  });
  return { destinations: new Map(destinations), destinationsOf: yield* destinationNames(all, protocols) };
}

export const createRouteDetails = (dependencies: RouteDetailsDependencies): RouteDetailsOf => {
  let made: { revision: number; details: Promise<RouteDetails> } | undefined;
  return () => {
    const revision = dependencies.review.revision();
    if (made?.revision !== revision) made = { revision, details: inSlices(detailsOf(dependencies)) };
    return made.details;
  };
};
