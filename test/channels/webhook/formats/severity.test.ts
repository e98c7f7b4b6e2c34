/** People and programs hear the same of how bad an alert is. */
import { expect, test } from 'vitest';
import { severityOf as severityForPeople } from '../../../../src/channels/content/severity.ts';
import { severityOf } from '../../../../src/channels/webhook/formats/event.ts';
import { inspectionAlert, notificationAlert } from '../../../support/alerts.ts';

const assessed = (assessment: string) => inspectionAlert({ item: { assessment } });

test.each([
  ['a notification that states nothing', notificationAlert('The pool was paused'), 'suspicious', 'error'],
  ['an assessment that nobody documented', assessed('brand new'), 'suspicious', 'error'],
  [
    'a critical transaction, by its notification',
    notificationAlert('Critical transaction in A'),
    'critical',
    'critical',
  ],
  ['a critical inspection', assessed('critical'), 'critical', 'critical'],
  ['a suspicious inspection', assessed('suspecious'), 'suspicious', 'warning'],
  ['an inspection that is well', assessed('ok'), 'calm', 'info'],
])('%s', (_what, alert, tone, severity) => {
  expect([severityForPeople(alert).tone, severityOf(alert)]).toEqual([tone, severity]);
});
