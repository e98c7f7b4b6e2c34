import { expect, test } from 'vitest';
import { createSecret } from '../../src/secret.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { createServiceClock } from '../../src/service/clock.ts';
import { createFeed } from '../../src/service/feed.ts';
import { createListStyles } from '../../src/service/styles.ts';

test('a protocol whose name no URL can carry is a trouble of its own, not of whoever reads all', async () => {
  const service = {
    ...{ name: 'main', baseUrl: 'http://127.0.0.1:1', apiKey: createSecret('key') },
    ...{ timeout: 1000, pageSize: 100, arrayParams: 'repeat' as const },
  };
  const feed = createFeed(
    createServiceClient({ service }),
    createServiceClock(Date.now),
    {},
    createListStyles('repeat', () => {}),
  );
  const pages = feed.inspections('..', 0, new AbortController().signal, true);
  await expect(pages.next()).rejects.toMatchObject({ name: 'ServiceError', reason: 'rejected' });
});
