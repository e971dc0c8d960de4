// tier: all
/** The design page: every part is on it, keeps the scale's sizes, and is accessible in light and dark. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { serveDesignPage } from '../../src/dev/design.ts'
import { openVisitor, type Visitor } from './browser.ts'

const PARTS = join(import.meta.dir, '..', '..', 'src', 'console', 'web', 'parts')

let server: Awaited<ReturnType<typeof serveDesignPage>>
let visitor: Visitor
let page: Page

beforeAll(async () => {
  server = await serveDesignPage(0)
  visitor = await openVisitor(`http://localhost:${server.port}`, 'design')
  page = visitor.page
  await visitor.sees('Parts of the console')
})

afterAll(async () => {
  await visitor.close()
  await server.stop(true)
})

const specimen = (name: string) => page.locator(`[data-parts~="${name}"]`)
const within = (name: string, role: 'button' | 'link', text: string) =>
  specimen(name).getByRole(role, { name: text, exact: true })

async function sizeOf(locator: Locator) {
  const { width = 0, height = 0 } = (await locator.first().boundingBox()) ?? {}
  return { width: Math.round(width), height: Math.round(height) }
}

function styleOf(locator: Locator, property: string): Promise<string> {
  return locator.first().evaluate((element, name) => {
    return getComputedStyle(element).getPropertyValue(name)
  }, property)
}

async function onPhone<T>(look: () => Promise<T>): Promise<T> {
  await page.setViewportSize({ width: 390, height: 844 })
  try {
    return await look()
  } finally {
    await page.setViewportSize({ width: 1280, height: 800 })
  }
}

test('every file of parts is shown with its rule', async () => {
  const files = await Array.fromAsync(new Bun.Glob('**/*.tsx').scan(PARTS))
  const shown = await page
    .locator('[data-parts]')
    .evaluateAll((found) =>
      found.flatMap((one) => one.getAttribute('data-parts')?.split(' ') ?? []),
    )
  expect([...new Set(shown)].sort()).toEqual(files.map((file) => file.replace('.tsx', '')).sort())
})

test('the design page is accessible in light and dark', async () => {
  await visitor.judge()
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true })
  await visitor.judge()
  await page.getByRole('radio', { name: 'Light' }).check({ force: true })
})

test('controls are 32 px high, small ones 26 px, and 40 and 32 px on phones', async () => {
  const heights = async () => ({
    button: (await sizeOf(within('button', 'button', 'Import .env'))).height,
    small: (await sizeOf(within('button', 'button', 'Replace value'))).height,
    icon: await sizeOf(within('icon_button', 'button', 'Copy token')),
    smallIcon: await sizeOf(within('icon_button', 'button', 'Copy key')),
    link: (await sizeOf(within('link_button', 'link', 'Open secrets'))).height,
    field: (await sizeOf(specimen('fields/text_field').getByLabel('Name'))).height,
    select: (await sizeOf(specimen('fields/select').getByRole('button').first())).height,
    search: (await sizeOf(specimen('fields/search_field').getByPlaceholder('Filter').locator('..')))
      .height,
    chip: (await sizeOf(within('page/filter_chip', 'button', 'All 60'))).height,
    segmented: (await sizeOf(specimen('fields/segmented').getByRole('radiogroup'))).height,
  })
  const [normal, small] = [32, 26]
  const square = (size: number) => ({ width: size, height: size })
  expect(await heights()).toEqual({
    button: normal,
    small,
    icon: square(normal),
    smallIcon: square(small),
    link: normal,
    field: normal,
    select: normal,
    search: normal,
    chip: 28,
    segmented: normal,
  })
  expect(await onPhone(heights)).toEqual({
    button: 40,
    small: 32,
    icon: square(40),
    smallIcon: square(32),
    link: 40,
    field: 40,
    select: 40,
    search: 40,
    chip: 32,
    segmented: 40,
  })
})

test('a finger hits small buttons within 44 px', async () => {
  const reach = await onPhone(() =>
    within('button', 'button', 'Replace value').evaluate((button) => {
      button.scrollIntoView({ block: 'center' })
      const { left, top, height } = button.getBoundingClientRect()
      const middle = top + height / 2
      const hits = [-21, 21].map((offset) => document.elementFromPoint(left + 8, middle + offset))
      return hits.map((hit) => button.contains(hit))
    }),
  )
  expect(reach).toEqual([true, true])
})

test('radii and the height of rows are those of the scale', async () => {
  expect({
    control: await styleOf(within('button', 'button', 'Import .env'), 'border-radius'),
    tag: await styleOf(specimen('show/tag').getByTitle('STRIPE_KEY'), 'border-radius'),
    card: await styleOf(specimen('page/card').locator('section'), 'border-radius'),
    row: (await sizeOf(specimen('grid/grid').getByRole('row').nth(1))).height,
    skeleton: (await sizeOf(specimen('page/skeleton').getByRole('status').locator('div'))).height,
  }).toEqual({ control: '7px', tag: '5px', card: '10px', row: 38, skeleton: 38 })
})

/** Each chart's days and labels, and whether all bars and labels are inside it without overlaps. */
function drawnCharts() {
  return specimen('show/stacked_bars')
    .getByRole('figure')
    .evaluateAll((figures) =>
      figures.map((figure) => {
        const plot = figure.querySelector('svg')?.getBoundingClientRect()
        const bars = [...figure.querySelectorAll('svg rect')].map((bar) =>
          bar.getBoundingClientRect(),
        )
        const labels = [...figure.querySelectorAll('[data-days] span')]
          .map((label) => label.getBoundingClientRect())
          .filter(({ width }) => width > 0)
        return {
          days: figure.querySelectorAll('svg g').length,
          areBarsInside: bars.every(
            ({ left, right, top, bottom, width }) =>
              plot !== undefined &&
              width >= 1 &&
              left >= plot.left &&
              right <= plot.right &&
              top >= plot.top - 1 &&
              bottom <= plot.bottom + 1,
          ),
          areLabelsApart: labels.every(
            ({ left }, at) => at === 0 || left > (labels[at - 1]?.right ?? 0),
          ),
          hasFewLabels: labels.length <= 14,
        }
      }),
    )
}

test('charts of 0, 1, 2, 14 and 90 days keep their labels and bars inside, on desktops and phones', async () => {
  const right = [0, 1, 2, 14, 90].map((days) => ({
    days,
    areBarsInside: true,
    areLabelsApart: true,
    hasFewLabels: true,
  }))
  expect(await drawnCharts()).toEqual(right)
  expect(await onPhone(drawnCharts)).toEqual(right)
})

test('days of a chart are chosen with the arrow keys or by dragging', async () => {
  const plot = page.getByRole('slider', { name: 'Calls of 14 days' })
  const faint = () => plot.locator('g.opacity-30').count()
  await plot.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Shift+ArrowLeft')
  expect(await plot.getAttribute('aria-valuetext')).toStartWith('Nov 24: Allowed')
  await page.keyboard.press('Enter')
  await plot.blur()
  expect(await faint()).toBe(12)
  const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {}
  await page.mouse.move(x + width / 28, y + 50)
  await page.mouse.down()
  await page.mouse.move(x + width * (5 / 28), y + 50)
  await page.mouse.up()
  expect(await faint()).toBe(11)
})

const pressing = (name: string) => () => page.getByRole('button', { name, exact: true }).click()
const typingInto = (name: string, text: string) => async () => {
  const field = page.getByRole('combobox', { name })
  await field.fill('')
  await field.pressSequentially(text)
}
const overlays = [
  { name: 'a menu', role: 'menu', open: pressing('Export') },
  { name: 'the choices of a word', role: 'menu', open: pressing('Environment: production') },
  { name: 'the panel of a word', role: 'dialog', open: pressing('Methods: GET') },
  { name: 'a dialog', role: 'dialog', open: pressing('Open dialog') },
  { name: 'a sheet', role: 'dialog', open: pressing('Open sheet') },
  { name: 'a question', role: 'alertdialog', open: pressing('Delete secret') },
  {
    name: 'a select',
    role: 'listbox',
    open: () => specimen('fields/select').getByRole('button').first().click(),
  },
  { name: 'a combo box', role: 'listbox', open: typingInto('Allowed host', 'api') },
  { name: 'a token field', role: 'listbox', open: typingInto('Hosts', 'hooks') },
  { name: 'a suggest field', role: 'listbox', open: typingInto('Filter audit log', 'deploy') },
]

test.each(overlays)(
  '$name is accessible while it is open beside a toast, in both themes and sizes',
  async ({ role, open }) => {
    const shown = page.locator(`[role=${role}]:not([data-toast])`)
    await pressing('Show a toast')()
    for (const theme of ['Dark', 'Light']) {
      await page.getByRole('radio', { name: theme }).check({ force: true })
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await open()
        await shown.waitFor()
        await visitor.judge(theme === 'Light' ? { only: 'colors' } : {})
        await page.keyboard.press('Escape')
        await shown.waitFor({ state: 'detached' })
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    visitor.report()
  },
)

test('a secret value is shown for 30 seconds at most and hides when the window loses the focus', async () => {
  const value = specimen('show/secret_value')
  await value.getByRole('button', { name: 'Show GITHUB_TOKEN' }).click()
  await value.getByText('sample value').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('blur')))
  await value.getByText('••••••••').waitFor()
})

test('a token field takes a URL, a suggestion and a comma, and refuses what is not valid', async () => {
  const field = specimen('fields/token_field')
  const hosts = field.getByRole('combobox', { name: 'Hosts' })
  await hosts.fill('https://x.example.com/a')
  await hosts.press('Enter')
  await hosts.pressSequentially('hooks')
  await hosts.press('ArrowDown')
  await hosts.press('Enter')
  await hosts.pressSequentially('bad,')
  await field.getByText('Enter a host like api.example.com.').waitFor()
  await hosts.fill('')
  await hosts.press('Backspace')
  await hosts.blur()
  const removers = await field.getByRole('button', { name: /^Remove/ }).all()
  const names = await Promise.all(removers.map((remover) => remover.getAttribute('aria-label')))
  expect(names).toEqual(['Remove api.github.com', 'Remove x.example.com'])
})
