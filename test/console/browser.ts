/**
 * The console in a real Chromium. Every test fails if the page violates its policy, logs an error or a warning, sends
 * a request to another origin, or leaks a secret: the password and the stored values carry the canary's mark
 * (test/support/canary.ts), and requests, storage, messages and the page are searched for it.
 *
 * A test process has one Chromium, and one server for all tests without special settings. Each visitor has a
 * browser context, so nothing of one test is left for the next one.
 */
import { join } from 'node:path'
import type { Result } from 'axe-core'
import type { Browser, CDPSession, Locator, Page, Request } from 'playwright-core'
import { ensureConsole } from '../../src/dev/console.ts'
import { freshEmail, sharedApp, startTestApp, type TestApp } from '../support/app.ts'
import { search } from '../support/canary.ts'
import { ofConsole } from '../support/console.ts'
import { preparedDatabase } from '../support/database.ts'
import { databasePlace } from '../support/places.ts'
import { answerKnownPasswords, PASSWORD, signUp } from './accounts.ts'

export { PASSWORD }

const CHROMIUM = '/usr/bin/chromium'
const PICTURES = join(import.meta.dir, '..', '..', 'docs', 'images', 'console')

export type Stage = {
  app: TestApp
  /** `http://localhost:…`: cookies and passkeys need this name or TLS. */
  origin: string
  /** A new browser context at an address below /console/, or at one of another origin. */
  visitor(path?: string, from?: string, tabs?: RegExp): Promise<Visitor>
  /** Registers outside the browser. The context starts with a session whose keys stay open over a reload. */
  person(name: string, path?: string): Promise<Person>
  /** Registers outside the browser and signs in on the screen. The keys lock on a reload. */
  personByScreen(name: string, path?: string): Promise<Person>
  /** Starts a session for an account, as `person` does. */
  enter(account: Account, path?: string): Promise<Visitor>
  /** Closes what is still open. */
  close(): Promise<void>
}

/** A stage whose server belongs to one test file. */
export type OwnStage = Stage & {
  /** Stops the server like a stopped process, and starts it again on the same address with the same data. */
  stop(): Promise<void>
  start(): Promise<void>
}

export type Account = { email: string; userId: string; seed: Uint8Array; password: string }
export type Person = Visitor & Account & { workspaceId: string }

export type Visitor = {
  page: Page
  /** The only session with the browser's tools: its authenticators end with it. */
  tools: CDPSession
  /** Waits for a screen's heading, and searches page and storage for secrets. */
  sees(heading: string, options?: { reveals?: boolean }): Promise<void>
  /** Searches the screen as it is for secrets, and checks that it is accessible, or only that its colors are. */
  judge(options?: { reveals?: boolean; only?: 'colors' }): Promise<void>
  /** Writes docs/images/console/<name>.png for docs/guides/console.md if CONSOLE_PICTURES is set. */
  picture(name: string): Promise<void>
  /** @throws Error with everything that went wrong in this context since the last report */
  report(): void
  /** Reports, too. */
  close(): Promise<void>
}

/** Playwright's list, which a second `--disable-features` replaces. */
const DISABLED_BY_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]
/** Each new context has a window, whose address bar loads pages that cost 1 s of CPU time. */
const ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup']
/** Leads to this machine, and is no secure context, like a server's name in a LAN. */
export const LAN_NAME = 'vault.lan.example'
const OPTIONS = [
  '--no-sandbox',
  '--disable-gpu',
  `--disable-features=${[...DISABLED_BY_PLAYWRIGHT, ...ADDRESS_BAR].join()}`,
  // Another program may listen on the same port of ::1. No other host is asked.
  `--host-resolver-rules=MAP localhost 127.0.0.1, MAP ${LAN_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost`,
]

/** Playwright's handlers would keep this process. */
const SIGNALS = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }

let launched: Promise<Browser> | undefined

/**
 * It ends when this process ends, however that happens, because its pipe closes then. `bun test` runs no handler at
 * its end, so the profile is where the run removes everything.
 */
export function sharedBrowser(): Promise<Browser> {
  launched ??= launch()
  return launched
}

async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  const { TMPDIR } = process.env
  process.env.TMPDIR = databasePlace
  const starting = chromium.launch({ executablePath: CHROMIUM, args: OPTIONS, ...SIGNALS })
  return starting.finally(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
}

let built: Promise<void> | undefined

/** On the server that all files of this process share. */
export async function openStage(): Promise<Stage> {
  return openStageOn(await sharedApp())
}

/** On a server that another stage has started, such as one with an upstream. */
export async function openStageOn(app: TestApp): Promise<Stage> {
  built ??= ensureConsole()
  await built
  return stageOf(app)
}

/** On a server with these settings, which may depend on its origin in the browser. */
export async function openOwnStage(
  given: Record<string, string> | ((origin: string) => Record<string, string>) = {},
): Promise<OwnStage> {
  built ??= ensureConsole()
  await built
  const port = freePort()
  const env = typeof given === 'function' ? given(`http://localhost:${port}`) : given
  const database = await preparedDatabase()
  const start = () => startTestApp({ ...env, PORT: port }, { database })
  let app = await start()
  const stage = stageOf(app)
  return {
    ...stage,
    get app() {
      return app
    },
    stop: () => app.stop(),
    start: async () => {
      app = await start()
    },
    close: async () => {
      await stage.close()
      await app.stop()
      database.remove()
    },
  }
}

/** The address in the browser must be known before the server starts, and stay when it restarts. */
function freePort(): string {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  return String(port)
}

function stageOf(app: TestApp): Stage {
  const { controlPlane } = app
  const origin = controlPlane.replace('127.0.0.1', 'localhost')
  const open = new Set<Visitor>()
  const opened = async (from: string, path: string, options?: VisitorOptions) => {
    const visitor = await openVisitor(from, path, options)
    const entry: Visitor = {
      ...visitor,
      close: () => {
        open.delete(entry)
        return visitor.close()
      },
    }
    open.add(entry)
    return entry
  }
  const enter = ({ email, userId, seed, password }: Account, path = '') =>
    opened(origin, path, {
      prepare: async (page) => {
        await page.goto(`${origin}/console/SHA256SUMS`)
        const session = { email, userId, seed: [...seed], password, headers: ofConsole() }
        await page.evaluate(startSession, session)
      },
    })
  const register = async (name: string) => {
    const email = freshEmail(name)
    return { email, ...(await signUp(controlPlane, email)) }
  }
  return {
    app,
    origin,
    visitor: (path = '', from = origin, tabs) => opened(from, path, { tabs }),
    enter,
    person: async (name, path) => {
      const account = await register(name)
      return { ...account, ...(await enter(account, path)) }
    },
    personByScreen: async (name, path = '') => {
      const account = await register(name)
      const visitor = await opened(origin, path)
      await logIn(visitor.page, account.email)
      return { ...account, ...visitor }
    },
    close: async () => {
      await Promise.all([...open].map((visitor) => visitor.close()))
    },
  }
}

/**
 * Runs in a page of the server that is no console: starts a session like a log-in that keeps the keys open for
 * 8 hours, without Argon2 and without a screen.
 */
async function startSession({
  email,
  userId,
  seed,
  password,
  headers,
}: Omit<Account, 'seed'> & { seed: number[]; headers: Record<string, string> }) {
  const answer = await fetch('/api/auth/console/login/', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  const nonce = crypto.getRandomValues(new Uint8Array(12))
  const seen = Date.now()
  const until = seen + 8 * 3_600_000
  const additionalData = new TextEncoder().encode(`${userId} ${email} ${until}`)
  const parameters = { name: 'AES-GCM', iv: nonce, additionalData }
  const sealed = await crypto.subtle.encrypt(parameters, key, new Uint8Array(seed))
  const opening = indexedDB.open('cloakroom', 2)
  opening.onupgradeneeded = () => {
    for (const name of ['chains', 'workspaceKeys', 'staying', 'names'])
      opening.result.createObjectStore(name)
  }
  const database = await done(opening)
  const store = database.transaction('staying', 'readwrite').objectStore('staying')
  await done(store.put({ key, nonce, sealed, email, until, seen }, userId))
  database.close()
}

/** By the screen. */
export async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await accountMenu(page)
    .waitFor()
    .catch(async () => {
      throw new Error(await describeMissing(page, accountMenu(page)))
    })
}

/** In the sidebar while the keys are unlocked. */
export function accountMenu(page: Page): Locator {
  return page.getByRole('button', { name: 'Account menu' })
}

/** Chooses `Lock`, `Account`, `Sign out` or another choice of the account's menu. */
export async function chooseInAccount(page: Page, name: string): Promise<void> {
  await accountMenu(page).click()
  await page.getByRole('menuitem', { name: new RegExp(`^${name}`) }).click()
}

async function describeMissing(page: Page, expected: unknown): Promise<string> {
  return `${expected} is not shown, but:\n${await page.locator('body').innerText()}`
}

/** Runs in the page at each frame: a locator's wait looks every 500 ms, which made up half of the tests' time. */
function hasHeading(name: string): boolean {
  const wanted = name.toLowerCase()
  return [...document.querySelectorAll('h1')].some(
    (heading) => heading.checkVisibility() && heading.textContent.toLowerCase().includes(wanted),
  )
}

/** Other tests keep the machine busy, so a shorter limit would fail for reasons outside the page. */
const PATIENCE_MS = Number(process.env.PATIENCE ?? 90_000)

export type VisitorOptions = {
  prepare?: (page: Page) => Promise<unknown>
  /** Addresses that links may open in other tabs. Their certificates are not verified. */
  tabs?: RegExp | undefined
}

export async function openVisitor(
  origin: string,
  path: string,
  { prepare, tabs }: VisitorOptions = {},
): Promise<Visitor> {
  const browser = await sharedBrowser()
  const context = await browser.newContext({
    permissions: ['clipboard-write'],
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: tabs !== undefined,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await answerKnownPasswords(context)
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  const wrong: string[] = []
  watch(page, wrong)
  context.on('request', (request) => {
    searchRequest(request)
    const { protocol, origin: asked } = new URL(request.url())
    const isAllowed = protocol === 'data:' || asked === origin || tabs?.test(request.url())
    if (!isAllowed) wrong.push(`asked ${request.url()}`)
  })
  await prepare?.(page)
  await page.goto(`${origin}/console/${path}`)
  const look = async (reveals: boolean) => {
    if (!reveals) search('browser', 'the page', await contentOf(page))
    search('browser', 'storage', await storedIn(page))
  }
  const report = () => {
    if (wrong.length > 0) throw new Error(wrong.splice(0).join('\n'))
  }
  return {
    page,
    tools,
    report,
    judge: async ({ reveals = false, only } = {}) => {
      await look(reveals)
      wrong.push(...(await inaccessible(page, tools, only)))
    },
    picture: async (name) => {
      if (process.env.CONSOLE_PICTURES === undefined) return
      await page.setViewportSize({ width: 1280, height: 800 })
      // Toasts of earlier steps would cover the screen.
      const toasts = page.getByRole('region', { name: /^Notices/ })
      const show = (display: string) =>
        toasts.evaluateAll((found: HTMLElement[], value) => {
          for (const each of found) each.style.display = value
        }, display)
      await show('none')
      await page.waitForFunction(() => document.querySelector('[data-loading]') === null)
      await page.screenshot({ path: join(PICTURES, `${name}.png`) })
      await show('')
    },
    sees: async (heading, { reveals = false } = {}) => {
      await page.waitForFunction(hasHeading, heading).catch(async () => {
        throw new Error([await describeMissing(page, heading), ...wrong].join('\n'))
      })
      await look(reveals)
    },
    close: async () => {
      search('browser', 'storage', await storedIn(page))
      // A request that a test's route still answers would fail the next test.
      await context.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
      report()
    },
  }
}

const COOP_IGNORED = 'The Cross-Origin-Opener-Policy header has been ignored, because the URL'

/** Messages and policy violations of workers arrive with those of the page. */
function watch(page: Page, wrong: string[]): void {
  page.on('console', (message) => {
    search('browser', 'a message', message.text())
    // The browser logs each refused request, too; tests check what the page makes of it.
    const isRefusal =
      /^Failed to load resource: (the server responded with a status|net::ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING))/.test(
        message.text(),
      )
    // A page at a plain http address only explains why it does not start.
    const isInsecure = message.text().startsWith(COOP_IGNORED)
    if (/^(error|warning|assert)$/.test(message.type()) && !isRefusal && !isInsecure) {
      wrong.push(`${message.type()}: ${message.text()}`)
    }
  })
  page.on('pageerror', (error) => wrong.push(`not caught: ${error.stack ?? error.message}`))
}

function searchRequest(request: Request): void {
  const place = `${request.method()} ${new URL(request.url()).pathname}`
  search('browser', place, request.url())
  search('browser', place, JSON.stringify(request.headers()))
  search('browser', place, request.postDataBuffer() ?? '')
}

/** Includes what was typed into fields, which the page's text does not have. */
function contentOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const typed = [...document.querySelectorAll('input, textarea')]
    return document.documentElement.outerHTML + typed.map((field) => Reflect.get(field, 'value'))
  })
}

/** Everything that outlives the page, except keys that no script can read. */
async function storedIn(page: Page): Promise<string> {
  const cookies = await page.context().cookies()
  const kept = await page.evaluate(async () => {
    const done = (request: IDBRequest) =>
      new Promise<unknown[]>((resolve) => {
        request.onsuccess = () => resolve(request.result)
      })
    const texts = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), location.href]
    for (const { name = '' } of await indexedDB.databases()) {
      const opening = indexedDB.open(name)
      await done(opening)
      for (const store of opening.result.objectStoreNames) {
        const values = await done(opening.result.transaction(store).objectStore(store).getAll())
        texts.push(JSON.stringify(values))
      }
      opening.result.close()
    }
    return texts.join('\n')
  })
  return kept + JSON.stringify(cookies)
}

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Another color scheme changes nothing for the other rules. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']
let axe: Promise<string> | undefined

/** WCAG 2.2 AA as far as axe checks it. Excludes react-aria's list of what was announced a moment ago. */
async function inaccessible(page: Page, tools: CDPSession, only?: 'colors'): Promise<string[]> {
  axe ??= Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text()
  const evaluate = async (expression: string) => {
    const options = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await tools.send('Runtime.evaluate', options)
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return result.value as unknown
  }
  if ((await evaluate('typeof axe')) === 'undefined') await evaluate(`${await axe}\n;0`)
  const violations: Result[] = JSON.parse(
    String(
      await evaluate(`axe.run({ exclude: '[data-live-announcer]' }, {
        resultTypes: ['violations'],
        runOnly: ${JSON.stringify(only === 'colors' ? COLOR_RULES : ALL_RULES)},
      }).then(({ violations }) => JSON.stringify(violations))`),
    ),
  )
  return violations.map(
    ({ id, help, nodes }) =>
      `${page.url()}: ${id} (${help}) at ${nodes.map(({ html }) => html).join(', ')}`,
  )
}
