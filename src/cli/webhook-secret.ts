/** `tocsin webhook secret`: what to give the people of one receiver, so that they can verify what comes. */
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { addressIn, ownSecretsFor } from './webhook-secrets.ts';

interface ReceiverOptions extends CommonOptions {
  url: string;
  derived?: boolean;
}

export const secret = async (options: ReceiverOptions, context: CommandContext): Promise<ExitCode> => {
  const url = addressIn('the URL', options.url);
  const secrets = await ownSecretsFor(url, options, context);
  if (options.json === true) writeJson(context, { url, secrets });
  else context.write(secrets.map((one) => `${one}\n`).join(''));
  return EXIT.done;
};
