/** A headless Chromium, where this machine has one, driven over its DevTools protocol. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Undefined where `PATH` has none. */
export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find(isProgram);

interface Answer {
  id?: number;
  method?: string;
  params?: { loaderId?: string; name?: string };
  result?: { result?: { value?: unknown }; exceptionDetails?: unknown; data?: string; loaderId?: string };
}

/** Of an element, or of a window of this width. */
export interface PictureOptions {
  of?: string;
  width?: number;
  tallest?: number;
}

export interface Tab {
  open(url: string): Promise<void>;
  /** The value of an expression, once it has settled. Throws what it throws. */
  evaluate(expression: string): Promise<unknown>;
  look(width: number, scheme: 'light' | 'dark'): Promise<void>;
  /** The page as a PNG, however long it is. */
  picture(options: PictureOptions): Promise<Buffer>;
  /** Lets scripts of tests run in pages that forbid all others. */
  ignorePolicy(): Promise<void>;
  /** What the browser complained of: scripts that failed, what a policy forbade, what did not load. */
  complaints(): string[];
}

export interface Browser {
  tab: Tab;
  close(): Promise<void>;
}

const addressOf = async (browser: ChildProcess): Promise<URL> => {
  let text = '';
  for await (const chunk of browser.stderr ?? []) {
    text += String(chunk);
    const [found] = /ws:\/\/\S+/.exec(text) ?? [];
    if (found !== undefined) return new URL(found);
  }
  throw new Error(`no browser: ${text}`);
};

const connect = async (host: string): Promise<Tab> => {
  const pages = (await (await fetch(`http://${host}/json`)).json()) as { type: string; webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(pages.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const waiting = new Map<number, (answer: Answer) => void>();
  const complaints: string[] = [];
  /** What was loaded whole since the last page was asked for, and who waits for it. */
  let loaded: (string | undefined)[] = [];
  let onLoaded = (): void => {};
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    if (answer.method === 'Page.lifecycleEvent' && answer.params?.name === 'load') {
      loaded.push(answer.params.loaderId);
      onLoaded();
    }
    const isComplaint = answer.method === 'Runtime.exceptionThrown' || answer.method === 'Log.entryAdded';
    if (isComplaint && !JSON.stringify(answer).includes('"level":"verbose"'))
      complaints.push(JSON.stringify(answer.params));
  });
  let last = 0;
  const call = (method: string, params: object = {}): Promise<Answer> => {
    last += 1;
    const answered = Promise.withResolvers<Answer>();
    waiting.set(last, answered.resolve);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answered.promise;
  };
  for (const domain of ['Page', 'Runtime', 'Log']) await call(`${domain}.enable`);
  await call('Page.setLifecycleEventsEnabled', { enabled: true });
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (result?.exceptionDetails !== undefined) throw new Error(JSON.stringify(result.exceptionDetails));
    return result?.result?.value;
  };
  return {
    evaluate,
    open: async (url) => {
      loaded = [];
      const { result } = await call('Page.navigate', { url });
      while (!loaded.includes(result?.loaderId)) {
        await new Promise<void>((resolve) => {
          onLoaded = resolve;
        });
      }
    },
    look: async (width, scheme) => {
      await call('Emulation.setDeviceMetricsOverride', {
        width,
        height: 900,
        deviceScaleFactor: 1,
        mobile: width < 500,
      });
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await call('Emulation.setEmulatedMedia', { features });
    },
    picture: async ({ of = 'html', width, tallest = Infinity }) => {
      const box = await evaluate(
        `(({ width, height }) => [Math.ceil(width), Math.ceil(height)])(document.querySelector('${of}').getBoundingClientRect())`,
      );
      const [measured = 1, height = 1] = box as number[];
      const clip = { x: 0, y: 0, width: width ?? measured, height: Math.min(height, tallest), scale: 1 };
      const { result } = await call('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true });
      return Buffer.from(result?.data ?? '', 'base64');
    },
    ignorePolicy: async () => {
      await call('Page.setBypassCSP', { enabled: true });
    },
    complaints: () => complaints,
  };
};

export const startChromium = async (path: string): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), 'tocsin-chromium-'));
  const flags = ['--headless=new', '--disable-gpu', '--no-sandbox', '--remote-debugging-port=0', '--no-first-run'];
  const browser = spawn(path, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const close = async (): Promise<void> => {
    const ended = browser.exitCode === null ? once(browser, 'exit') : undefined;
    browser.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const { host } = await addressOf(browser);
    browser.stderr?.resume();
    return { tab: await connect(host), close };
  } catch (error) {
    await close();
    throw error;
  }
};
