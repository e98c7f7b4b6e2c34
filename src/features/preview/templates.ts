/** What is wrong with the templates of a config: each is rendered for every scene that its types fit. Pure. */
import type { Content } from '../../channels/content/content.ts';
import { describeIncident } from '../../channels/content/describe.ts';
import { createPresentation, type PresentationConfig } from '../../channels/content/presentation.ts';
import { createTemplates, type TemplateSource, unknownFields } from '../../channels/content/template.ts';
import { planOf } from '../../channels/incidents.ts';
import { atOnce } from '../../chunks.ts';
import { SENT_AT } from './findings.ts';
import { SCENES } from './scenes.ts';

interface TemplateProblem {
  path: readonly (string | number)[];
  rule: string;
}

/** Enough of what happened to know it again, where a title is cut. */
const BEGINNING = 40;

const isTwice = (text: string, part: string): boolean => part !== '' && text.split(part).length > 2;

/** What a title says twice; undefined for nothing. What happened stands behind every title. */
const twiceIn = ({ title, headline, sign, severity, protocol, happened, isTitled }: Content): string | undefined => {
  if (!isTitled) return undefined;
  const own = Object.entries({ sign, severity, protocol }).find(([, value]) => isTwice(title, value));
  return own?.[0] ?? (isTwice(headline, happened.slice(0, BEGINNING)) ? 'happened' : undefined);
};

const unknownRule = (name: string): string =>
  `must name fields that exist: {{ ${name} }} is none; docs/templates.md lists them`;
const failsRule = (scene: string, why: string): string => `must fit every message, and fails for "${scene}": ${why}`;
const twiceRule = (name: string, scene: string): string =>
  `must not say {{ ${name} }} twice, as for "${scene}": what happened stands behind every title`;

/** `template`: with one part alone, so that what fails has its place. */
const problemOf = (template: TemplateSource, config: PresentationConfig): string | undefined => {
  const [kind = 'email'] = template.kinds;
  const [unknown] = unknownFields(template.title ?? template.text ?? '');
  if (unknown !== undefined) return unknownRule(unknown);
  const failures: string[] = [];
  // For every protocol, as those of the scenes are made up.
  const sources = [{ ...template, protocols: ['*'] }];
  const templates = createTemplates(sources, { kind, onFailed: (_, why) => failures.push(why), ofAnnouncements: true });
  const wording = { presentation: createPresentation(config, templates), sentAt: Date.parse(SENT_AT) };
  for (const { name, alerts } of SCENES) {
    for (const plan of planOf(alerts())) {
      if (plan.as === 'digest') continue;
      const twice = twiceIn(atOnce(describeIncident(plan.alerts, wording)));
      const [why] = failures;
      if (why !== undefined) return failsRule(name, why);
      if (twice !== undefined) return twiceRule(twice, name);
    }
  }
  return undefined;
};

export const templateProblems = (sources: readonly TemplateSource[], config: PresentationConfig): TemplateProblem[] =>
  sources.flatMap(({ title, text, ...template }, index) =>
    Object.entries({ title, text }).flatMap(([part, source]) => {
      const rule = source === undefined ? undefined : problemOf({ ...template, [part]: source }, config);
      return rule === undefined ? [] : [{ path: ['templates', index, part], rule }];
    }),
  );
