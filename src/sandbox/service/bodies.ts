/** Bodies of the writing endpoints, checked as far as the interface describes them. */
import { isObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { RECEIVER_KINDS } from '../receivers/received.ts';
import type { AssetSeed, SandboxChannel } from './model.ts';
import { Refusal } from './refusal.ts';

const CHANNEL_NAMES: readonly string[] = RECEIVER_KINDS;

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';

const isTexts = (value: JsonValue | undefined): value is string[] => Array.isArray(value) && value.every(isText);

export const readObject = (body: Buffer): JsonObject => {
  const value = parseJson(body.toString());
  if (!isObject(value)) throw new Refusal(400, 'the body must be a JSON object');
  return value;
};

/** Throws 400 where it is missing, empty or no text. */
export const readText = (body: JsonObject, field: string): string => {
  const value = body[field];
  if (!isText(value) || value === '') throw new Refusal(400, `${field} is required`);
  return value;
};

const listOf = (value: JsonValue | undefined, field: string): JsonObject[] => {
  if (!Array.isArray(value) || !value.every(isObject)) throw new Refusal(400, `${field} must be an array of objects`);
  return value;
};

/** No field of an asset is optional. */
const readAsset = ({ chainId, abi, address, admins, descriptor }: JsonObject): AssetSeed => {
  if (typeof chainId !== 'number') throw new Refusal(400, 'assets: chainId must be a number');
  if (!isText(abi) || !isText(address) || !isText(descriptor) || !isTexts(admins))
    throw new Refusal(400, 'assets: abi, address, descriptor and admins are required');
  return { chainId, abi, address, admins: [...admins], descriptor };
};

export const readAssets = (body: JsonObject): AssetSeed[] => listOf(body.assets, 'assets').map(readAsset);

const readChannel = ({ name, contacts, url }: JsonObject): SandboxChannel => {
  if (!isText(name) || !CHANNEL_NAMES.includes(name))
    throw new Refusal(400, `notificationChannels: name must be one of ${CHANNEL_NAMES.join(', ')}`);
  if (contacts !== undefined && !isTexts(contacts))
    throw new Refusal(400, 'notificationChannels: contacts must be an array of strings');
  if (url !== undefined && !isText(url)) throw new Refusal(400, 'notificationChannels: url must be a string');
  return {
    name,
    ...(contacts === undefined ? {} : { contacts: [...contacts] }),
    ...(url === undefined ? {} : { url }),
  };
};

export const readChannels = (body: JsonObject): SandboxChannel[] =>
  listOf(body.notificationChannels, 'notificationChannels').map(readChannel);
