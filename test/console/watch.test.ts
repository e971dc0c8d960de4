// tier: all
/** The harness itself: the failures that the console's tests rely on. */
import { expect } from 'bun:test'
import { takeLeaks } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'

const { test, describe, beforeAll, afterAll, afterEach } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a page that violates its policy, throws, or asks another origin fails the test', async () => {
  const { page, close } = await stage.visitor('login')
  await page.evaluate(async () => {
    const image = new Image()
    image.src = 'https://elsewhere.invalid/pixel.png'
    document.body.append(image)
    const style = document.createElement('style')
    style.textContent = 'body { color: red }'
    document.head.append(style)
    await fetch('https://elsewhere.invalid/').catch(() => {})
    setTimeout(() => {
      throw new Error('on purpose')
    })
  })
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
  const said = await close().catch((error) => String(error))
  for (const part of ['img-src', 'style-src', 'connect-src', 'on purpose']) {
    expect(said).toContain(part)
  }
})

test('a script from text runs neither in the page nor in a worker of another address', async () => {
  const { page, close } = await stage.visitor('login')
  const tries = await page.evaluate(() => {
    const attempt = (act: () => unknown) => {
      try {
        act()
        return 'done'
      } catch (error) {
        return String(error)
      }
    }
    return [
      attempt(() => new Worker('data:text/javascript,1')),
      attempt(() => {
        document.body.innerHTML = '<b>text</b>'
      }),
      attempt(() => Reflect.get(globalThis, 'trustedTypes').createPolicy('cloakroom', {})),
    ]
  })
  for (const outcome of tries) expect(outcome).toMatch(/TypeError/)
  expect(await close().catch((error) => String(error))).toContain('trusted')
})

async function shownPage() {
  const visitor = await stage.visitor('login')
  await visitor.page.getByRole('heading', { level: 1 }).waitFor()
  return visitor
}

/** Run in the page, each with the password, which has the mark. */
const leaks: { where: string; place: string; leak: (text: string) => unknown }[] = [
  { where: 'localStorage', place: 'storage', leak: (text) => localStorage.setItem('kept', text) },
  {
    where: 'sessionStorage',
    place: 'storage',
    leak: (text) => sessionStorage.setItem('kept', text),
  },
  {
    where: 'the address',
    place: 'storage',
    leak: (text) => history.replaceState(null, '', `#${text.replaceAll(' ', '.')}`),
  },
  {
    where: 'a cookie',
    place: 'storage',
    leak: (text) => {
      // biome-ignore lint/suspicious/noDocumentCookie: as careless code would.
      document.cookie = `kept=${text}`
    },
  },
  {
    where: 'IndexedDB',
    place: 'storage',
    leak: (text) =>
      new Promise((resolve) => {
        const opening = indexedDB.open('careless')
        opening.onupgradeneeded = () => opening.result.createObjectStore('kept').put({ text }, 1)
        opening.onsuccess = () => {
          opening.result.close()
          resolve(null)
        }
      }),
  },
  { where: 'a message', place: 'a message', leak: (text) => console.info(text) },
  {
    where: 'the address of a request',
    place: 'GET /console/a',
    leak: (text) => fetch(`/console/a?${text.replaceAll(' ', '.')}`),
  },
  {
    where: 'a header of a request',
    place: 'GET /console/b',
    leak: (text) => fetch('/console/b', { headers: { 'x-note': text } }),
  },
]

describe('the canary', () => {
  let visitor: Visitor
  beforeAll(async () => {
    visitor = await shownPage()
  })
  afterEach(async () => {
    await visitor.page.evaluate(forget)
    takeLeaks()
  })
  afterAll(() => visitor.close())

  test.each(leaks)('the canary finds a secret in $where', async ({ place, leak }) => {
    await visitor.page.evaluate(leak, PASSWORD)
    await visitor.judge()
    expect(takeLeaks().join()).toContain(place)
  })

  test('the canary finds nothing where there is no secret', async () => {
    await visitor.judge()
    expect(takeLeaks()).toEqual([])
  })
})

/** Runs in the page: undoes each of them. */
function forget() {
  localStorage.clear()
  sessionStorage.clear()
  history.replaceState(null, '', '#')
  // biome-ignore lint/suspicious/noDocumentCookie: as careless code would.
  document.cookie = 'kept=; max-age=0'
  return new Promise((resolve) => {
    indexedDB.deleteDatabase('careless').onsuccess = resolve
  })
}

test.each([
  { what: 'a warning', act: () => console.warn('careful'), said: 'warning: careful' },
  {
    what: 'an accessibility violation',
    act: () => document.documentElement.removeAttribute('lang'),
    said: 'html-has-lang',
  },
])('$what fails the test', async ({ act, said }) => {
  const { page, judge, close } = await shownPage()
  await page.evaluate(act)
  await judge()
  expect(await close().catch((error) => String(error))).toContain(said)
})

test('a request to another origin fails the test even if the policy allows it', async () => {
  const { page, close } = await stage.visitor('login')
  await page.evaluate((address) => location.assign(address), stage.app.controlPlane)
  await page.waitForURL(`${stage.app.controlPlane}/**`)
  expect(await close().catch((error) => String(error))).toContain(`asked ${stage.app.controlPlane}`)
})

test('the canary searches the requests of the worker, and the page', async () => {
  const { page, judge, close } = await stage.visitor('login')
  await page.getByLabel('Password').fill(PASSWORD)
  await judge()
  expect(takeLeaks().join()).toContain('the page')
  // The address is sent to the server unchanged, so a mark in it is detected in the worker's requests.
  await page.getByLabel('Email').fill(`${PASSWORD.replaceAll(' ', '.')}@example.com`)
  await page.getByLabel('Password').fill('x')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Email or password is wrong.').waitFor()
  expect(takeLeaks().join()).toContain('POST /api/auth/prelogin/')
  await close()
  takeLeaks()
})
