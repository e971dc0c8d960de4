/** Rules of the console's design that hold on every screen and in every state. */
import type { Page } from 'playwright-core'

/**
 * @returns what breaks a rule: one primary action, red controls only where something is destroyed, one Tab stop in a
 * grid, and no code or ID outside of details
 */
export function brokenRules(page: Page): Promise<string[]> {
  return page.evaluate(findBrokenRules)
}

/** Runs in the page. */
function findBrokenRules(): string[] {
  const probe = document.createElement('span')
  document.body.append(probe)
  const resolve = (token: string) => {
    probe.style.color = `var(${token})`
    return getComputedStyle(probe).color
  }
  const [accent, red] = [resolve('--color-accent'), resolve('--color-red')]
  const accentHover = resolve('--color-accent-hover')
  probe.remove()
  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const overlays = '[role="dialog"], [role="alertdialog"]:not([data-toast]), [role="menu"]'
  const controls = [...document.querySelectorAll('button, a[href]')].filter(isShown)
  const onPage = controls.filter((control) => !control.closest(overlays))
  const nameOf = (element: Element) => element.getAttribute('aria-label') ?? element.textContent
  const isPrimary = (control: Element) =>
    [accent, accentHover].includes(getComputedStyle(control).backgroundColor)
  const primary = onPage.filter(
    (control) =>
      control.closest('main') && !control.closest('[data-inspector]') && isPrimary(control),
  )
  const reds = onPage.filter((control) => {
    const { color, backgroundColor } = getComputedStyle(control)
    return color === red || backgroundColor === red
  })
  // A field in a cell has its buttons beside it.
  const grids = [...document.querySelectorAll('[role="grid"]')].filter(
    (grid) =>
      !document.activeElement?.matches('input, textarea') || !grid.contains(document.activeElement),
  )
  const stopsIn = (grid: Element) =>
    [...grid.querySelectorAll<HTMLElement>('button, a[href], input, textarea, [tabindex]')].filter(
      (element) => element.tabIndex >= 0 && isShown(element),
    )
  const manyStops = grids.filter((grid) => stopsIn(grid).length > 1)
  const texts: string[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { parentElement: parent, textContent } = node
    const isText =
      parent && isShown(parent) && !parent.closest('details, code, pre, textarea, noscript')
    if (isText && /\b[0-9a-f]{8}-[0-9a-f]{4}-|\b[a-z]{2,}(_[a-z]{2,})+\b/.test(textContent ?? ''))
      texts.push(`a code or an ID outside of details: ${textContent}`)
  }
  return [
    ...(primary.length > 1
      ? [`more than one primary action: ${primary.map(nameOf).join(', ')}`]
      : []),
    ...reds.map((control) => `red outside of a dialog or a menu: ${nameOf(control)}`),
    ...manyStops.map(
      (grid) =>
        `more than one Tab stop: ${stopsIn(grid)
          .map(({ outerHTML }) => outerHTML.slice(0, 200))
          .join(', ')}`,
    ),
    ...texts,
  ]
}
