/**
 * Microsoft Teams, by the webhook of a workflow: an adaptive card. Source:
 * https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498
 */
import type { FormatModule } from './format.ts';
import { composeForPeople } from './people.ts';
import { digestTeams } from './teams-digest.ts';
import { singleTeams } from './teams-single.ts';

export const teams: FormatModule = {
  contentType: 'application/json',
  isSigned: false,
  compose: (parcel, context) =>
    composeForPeople(parcel, context, {
      single: (content, { format }) => singleTeams(content, format),
      digest: (content, { format }) => digestTeams(content, format === 'minimal'),
    }),
};
