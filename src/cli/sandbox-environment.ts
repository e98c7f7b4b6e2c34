/** What config/demo.yaml asks for, filled in with a sandbox's addresses. */
import type { SandboxAddresses } from '../sandbox/sandbox.ts';

export const sandboxEnvironment = ({ service, slack, telegram, smtp, webhook }: SandboxAddresses) => ({
  TOCSIN_SANDBOX_SERVICE: service.url,
  TOCSIN_SANDBOX_KEY: service.apiKey,
  TOCSIN_SANDBOX_SMTP_HOST: smtp.host,
  TOCSIN_SANDBOX_SMTP_PORT: String(smtp.port),
  TOCSIN_SANDBOX_TELEGRAM: telegram.apiRoot,
  TOCSIN_SANDBOX_TELEGRAM_TOKEN: telegram.botToken,
  TOCSIN_SANDBOX_SLACK: slack.apiUrl,
  TOCSIN_SANDBOX_SLACK_TOKEN: slack.botToken,
  TOCSIN_SANDBOX_WEBHOOK_SECRET: webhook.secret,
});
