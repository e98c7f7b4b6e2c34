/** The keys of the configuration that say how alerts are worded. Each key's description is its help in an editor. */
import { z } from 'zod';
import { CHANNEL_KINDS, isHuman } from '../alert.ts';
import { PLACEHOLDER, PLACEHOLDERS } from '../channels/content/presentation.ts';
import { templateProblem } from '../channels/content/template.ts';
import { orUndefined } from '../errors.ts';
import { glob, globs } from '../schema/fields.ts';

const ZONE_RULE = 'must be a time zone like UTC or Europe/Berlin';

export const isTimeZone = (name: string): boolean =>
  orUndefined(() => new Intl.DateTimeFormat('en', { timeZone: name })) !== undefined;

export const timeZone = () => z.string({ error: ZONE_RULE }).refine(isTimeZone, { error: ZONE_RULE });

/** A text of one line. */
const line = (most: number, error: string) =>
  z.string({ error }).regex(new RegExp(`^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${most}}$`, 'u'), { error });

export const shortLine = () => line(30, 'must be a short text of one line, at most 30 characters');

export const detectorNames = () =>
  z.record(z.string().min(1), line(60, 'must be a text of one line, at most 60 characters'));

const URL_RULE =
  'must be an https URL that begins https://HOST; {hash} and the like may stand in its path, query or fragment, not before';
/** As it is written: a URL parser also takes `https:/`, a backslash, or a space before it, and finds the host behind them. */
const FIXED_HOST = /^https:\/\/[^/?#\\\s{]+(?:[/?#]|$)/i;

const names: readonly string[] = PLACEHOLDERS;

const placeholdersIn = (url: string): string[] => [...url.matchAll(PLACEHOLDER)].map(([, name = '']) => name);

/** With the placeholders left out: what stands for them later is escaped, so it changes nothing of the URL's form. */
const isTemplate = (url: string): boolean => {
  const parsed = URL.parse(url.replace(PLACEHOLDER, 'x'));
  return parsed?.protocol === 'https:' && parsed.username === '' && FIXED_HOST.test(url);
};

const linkSection = z.strictObject({
  label: shortLine().describe('The words on the button.'),
  url: z
    .string({ error: URL_RULE })
    .max(1000, { error: 'must have at most 1000 characters' })
    .refine(isTemplate, { error: URL_RULE })
    .refine((url) => placeholdersIn(url).every((name) => names.includes(name)), {
      error: `may hold only these placeholders: ${names.map((name) => `{${name}}`).join(' ')}`,
    })
    .describe(
      `Where it leads: https. ${names.map((name) => `{${name}}`).join(', ')} are replaced and escaped; {address} is the first contract's, {detector} the first that fired. An alert that lacks one of them does not get the link.`,
    ),
  protocols: globs("Globs on the protocol's name; with none, it is for every protocol."),
  detectors: globs('Globs on the names of detectors, as the service spells them; with none, it is for every alert.'),
});

export const linksSection = z.array(linkSection).max(20, { error: 'must name at most 20' });

const TEMPLATE_RULE = 'must be a text in the template language Liquid, at most 20000 characters';

const template = () =>
  z
    .string({ error: TEMPLATE_RULE })
    .min(1, { error: TEMPLATE_RULE })
    .max(20_000, { error: TEMPLATE_RULE, abort: true })
    .superRefine((source, context) => {
      const problem = templateProblem(source);
      if (problem !== undefined)
        context.addIssue({ code: 'custom', message: `must be readable as Liquid: ${problem}` });
    })
    .exactOptional();

const people = CHANNEL_KINDS.filter((kind) => isHuman({ kind }));

const templateSection = z
  .strictObject({
    kinds: z
      .array(z.enum(people))
      .min(1, { error: 'must name at least one' })
      .prefault(people)
      .describe('Kinds of channel whose messages it words.'),
    protocols: z.array(glob()).prefault(['*']).describe("Globs on the protocol's name."),
    types: z
      .array(z.string().min(1))
      .prefault(['inspection.*', 'notification.*'])
      .describe(
        'Globs on the type: inspection.critical, inspection.downgraded, notification.created, tocsin.mute.ended ... By default what the service finds, and nothing that Tocsin says of itself.',
      ),
    title: template().describe('The title, one line. Left out: the title stays.'),
    text: template().describe(
      'Replaces what happened, who and what, and the times. Details and links stay below it. Left out: the text stays.',
    ),
  })
  .refine(({ title, text }) => title !== undefined || text !== undefined, {
    error: 'must have a title, a text, or both',
  });

export const templatesSection = z.array(templateSection).max(50, { error: 'must name at most 50' });
