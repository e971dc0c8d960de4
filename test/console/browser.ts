/**
 * The console in a real Chromium. Whatever a test does there, it fails where the page broke its own policy, wrote an
 * error or a warning, asked another origin, or let a secret out: the password and the values that tests store carry
 * the mark of the canary (test/support/canary.ts), for which requests, storage, messages and the page are searched.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import {
  type Browser,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core'
import { signUp } from '../../src/client/vault.ts'
import { ensureConsole } from '../../src/dev/console.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked, search } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'

export const CHROMIUM = '/usr/bin/chromium'
const PICTURES = join(import.meta.dir, '..', '..', 'docs', 'images', 'console')
/** Strong by what the product asks for. */
export const PASSWORD = marked('four unlikely words ')

export type Stage = {
  app: TestApp
  /** `http://localhost:…`: cookies and passkeys need that name, or TLS. */
  origin: string
  browser: Browser
  /** A browser of its own, with nothing in it, at an address below /console/; of another origin where one is given. */
  visitor(path?: string, from?: string): Promise<Visitor>
  /** Ends the server as a process that is stopped does, and starts it anew: same address, same data. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Has registered, outside the browser, and logged in by the screens. */
  person(email: string, path?: string): Promise<Visitor>
  close(): Promise<void>
}

export type Visitor = {
  page: Page
  /** The one session with its tools: at the end of another the browser would drop its authenticators. */
  tools: CDPSession
  /** Waits for the heading of a screen, and judges it: accessible, and nothing secret in page or storage. */
  sees(heading: string, options?: { reveals?: boolean }): Promise<void>
  /** The same of the screen as it is. */
  judge(options?: { reveals?: boolean }): Promise<void>
  /** For docs/console.md, where CONSOLE_PICTURES is set: docs/images/console/<name>.png. */
  picture(name: string): Promise<void>
  /** Ends it. @throws Error for all that went wrong in it */
  close(): Promise<void>
}

/** `at` is an origin of localhost under which the browser finds the server, whatever port that has. */
export async function openStage(env: Record<string, string> = {}, at?: string): Promise<Stage> {
  if (!existsSync(CHROMIUM)) throw new Error(`these tests need ${CHROMIUM} (Debian: chromium)`)
  await ensureConsole()
  const database = await preparedDatabase()
  let app = await startTestApp(env, { database })
  const { port } = new URL(app.controlPlane)
  const origin = at ?? app.controlPlane.replace('127.0.0.1', 'localhost')
  const [host, listening] = [origin, app.controlPlane].map((address) => new URL(address).host)
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${host} ${listening}`],
  })
  const visitor = (path = '', from = origin) => openVisitor(browser, from, path)
  return {
    get app() {
      return app
    },
    origin,
    browser,
    visitor,
    stop: () => app.stop(),
    start: async () => {
      app = await startTestApp({ ...env, PORT: port }, { database })
    },
    person: async (email, path = '') => {
      await signUp(app.controlPlane, email, PASSWORD)
      const opened = await visitor(path)
      await logIn(opened.page, email)
      return opened
    },
    close: async () => {
      await browser.close()
      await app.stop()
      database.remove()
    },
  }
}

export async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
  await shown(page, page.getByRole('button', { name: 'Lock' }))
}

/** @throws Error with what is shown instead */
async function shown(page: Page, expected: Locator): Promise<void> {
  await expected.waitFor().catch(async () => {
    const text = await page.locator('body').innerText()
    throw new Error(`${expected} is not shown, but:\n${text}`)
  })
}

async function openVisitor(browser: Browser, origin: string, path: string): Promise<Visitor> {
  const context = await browser.newContext({ permissions: ['clipboard-write'] })
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  const wrong: string[] = []
  watch(page, origin, wrong)
  await page.goto(`${origin}/console/${path}`)
  const judge: Visitor['judge'] = async ({ reveals = false } = {}) => {
    if (!reveals) search('browser', 'the page', await contentOf(page))
    search('browser', 'storage', await storedIn(page))
    wrong.push(...(await inaccessible(page, tools)))
  }
  return {
    page,
    tools,
    judge,
    picture: async (name) => {
      if (process.env.CONSOLE_PICTURES === undefined) return
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.screenshot({ path: join(PICTURES, `${name}.png`) })
    },
    sees: async (heading, options) => {
      const found = page.getByRole('heading', { name: heading, level: 1 })
      await shown(page, found).catch((error: Error) => {
        throw new Error([error.message, ...wrong].join('\n'))
      })
      await judge(options)
    },
    close: async () => {
      search('browser', 'storage', await storedIn(page))
      await context.close()
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    },
  }
}

/** Messages of workers come with those of the page, and so do violations of the policy. */
function watch(page: Page, origin: string, wrong: string[]): void {
  page.on('console', (message) => {
    search('browser', 'a message', message.text())
    // What the server refuses is told once more by the browser; the tests look at what the page makes of it.
    const isRefusal =
      /^Failed to load resource: (the server responded with a status|net::ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING))/.test(
        message.text(),
      )
    if (/^(error|warning|assert)$/.test(message.type()) && !isRefusal) {
      wrong.push(`${message.type()}: ${message.text()}`)
    }
  })
  page.on('pageerror', (error) => wrong.push(`not caught: ${error.stack ?? error.message}`))
  page.context().on('request', (request) => {
    searchRequest(request)
    const { protocol, origin: asked } = new URL(request.url())
    if (protocol !== 'data:' && asked !== origin) wrong.push(`asked ${request.url()}`)
  })
}

function searchRequest(request: Request): void {
  const place = `${request.method()} ${new URL(request.url()).pathname}`
  search('browser', place, request.url())
  search('browser', place, JSON.stringify(request.headers()))
  search('browser', place, request.postDataBuffer() ?? '')
}

/** With what was typed into fields, which is not in the text of the page. */
function contentOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const typed = [...document.querySelectorAll('input, textarea')]
    return document.documentElement.outerHTML + typed.map((field) => Reflect.get(field, 'value'))
  })
}

/** All that outlives the page, but for keys that no script can read. */
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

/** WCAG 2.2 AA as far as axe judges it, but for react-aria's list of what was announced a moment ago. */
async function inaccessible(page: Page, tools: CDPSession): Promise<string[]> {
  await tools.send('Runtime.evaluate', { expression: axe.source })
  const expression = `axe.run({ exclude: '[data-live-announcer]' }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => JSON.stringify(violations))`
  const { result } = await tools.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  const violations: axe.Result[] = JSON.parse(String(result.value))
  return violations.map(
    ({ id, help, nodes }) =>
      `${page.url()}: ${id} (${help}) at ${nodes.map(({ html }) => html).join(', ')}`,
  )
}
