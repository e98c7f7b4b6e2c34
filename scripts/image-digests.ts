/** Asks an image's registry for the digest that its tag has now. */

interface Image {
  /** With its scheme. */
  registry: string;
  repository: string;
  tag: string;
}

const TIMEOUT_MS = 15_000;
/** The list of all platforms first: a digest of one platform's image would be wrong on the others. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** `redis:7-alpine`, `ghcr.io/owner/name:1.2`. As Docker has it, a first part with a dot or a port is a registry. */
const parseImage = (image: string): Image => {
  const colon = image.lastIndexOf(':');
  const [first = '', ...rest] = image.slice(0, colon).split('/');
  const tag = image.slice(colon + 1);
  if (rest.length > 0 && /[.:]|^localhost$/.test(first)) {
    const scheme = /^(localhost|127\.)/.test(first) ? 'http' : 'https';
    return { registry: `${scheme}://${first}`, repository: rest.join('/'), tag };
  }
  const repository = rest.length === 0 ? `library/${first}` : [first, ...rest].join('/');
  return { registry: 'https://registry-1.docker.io', repository, tag };
};

/** The token that everybody gets who reads public images; `challenge` says where. */
const anonymousToken = async (challenge: string): Promise<string> => {
  const field = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? '';
  const query = new URLSearchParams({ service: field('service'), scope: field('scope') });
  const response = await fetch(`${field('realm')}?${query}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { token, access_token: other }: Partial<Record<string, string>> = JSON.parse(await response.text());
  return token ?? other ?? '';
};

/** Throws an error that says why the digest cannot be had. */
export const digestOf = async (image: string): Promise<string> => {
  const { registry, repository, tag } = parseImage(image);
  const ask = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${registry}/v2/${repository}/manifests/${tag}`, {
      method: 'HEAD',
      headers: { accept: MANIFESTS, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  let response = await ask({});
  const challenge = response.headers.get('www-authenticate');
  if (response.status === 401 && challenge !== null) {
    response = await ask({ authorization: `Bearer ${await anonymousToken(challenge)}` });
  }
  if (!response.ok) throw new Error(`${registry} answered ${response.status}`);
  const digest = response.headers.get('docker-content-digest') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${registry} gave no digest`);
  return digest;
};
