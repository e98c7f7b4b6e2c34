/** Links that help to look further: the explorer, and those of the config. Pure. */
import { isPathSegment } from '../../text.ts';
import type { ContentLink } from './content.ts';
import type { Finding } from './finding.ts';
import { PLACEHOLDER, PLACEHOLDERS, type Placeholder } from './placeholders.ts';
import type { Presentation } from './presentation.ts';

/** More would hide the first. */
const LINKS_MAX = 5;

const URL_MAX = 2000;

/**
 * Undefined where the alert lacks something that the template asks for: half a link leads nowhere. A name that is only dots
 * would lead elsewhere.
 */
const filled = (template: string, values: Partial<Record<Placeholder, string>>): string | undefined => {
  let lacks = false;
  const url = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = PLACEHOLDERS.some((one) => one === name) ? values[name as Placeholder] : undefined;
    if (value === undefined || !isPathSegment(value)) lacks = true;
    return encodeURIComponent((value ?? '').toWellFormed());
  });
  return lacks || url.length > URL_MAX || URL.parse(url)?.protocol !== 'https:' ? undefined : url;
};

/** Not of samples: what they name does not exist. `detectors`: ids of those that fired. */
export const linksOf = (
  { transaction, chain, contracts, ids }: Finding,
  { protocols, detectors }: { protocols: readonly string[]; detectors: readonly string[] },
  presentation: Presentation,
): ContentLink[] => {
  const [protocol = ''] = protocols;
  const values = {
    ...(transaction === undefined ? {} : { hash: transaction.whole }),
    ...(chain?.name === undefined ? {} : { chain: chain.name }),
    ...(chain === undefined ? {} : { chainId: chain.id }),
    address: contracts.find(({ at }) => at !== undefined)?.at?.whole ?? '',
    protocol,
    id: ids[0] ?? '',
  };
  const configured = presentation.links.flatMap(({ label, url, isFor, detectorIn }) => {
    const detector = detectorIn(detectors);
    if (!protocols.some(isFor) || detector === undefined) return [];
    const whole = filled(url, { ...values, protocol: protocols.find(isFor) ?? protocol, detector });
    return whole === undefined ? [] : [{ label, url: whole }];
  });
  const explorer = transaction?.url?.startsWith('https:') ? [{ label: 'Explorer', url: transaction.url }] : [];
  return [...explorer, ...configured].slice(0, LINKS_MAX);
};
