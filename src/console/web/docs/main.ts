/** The script of a documentation page: theme, search, copy buttons. It is loaded before the page is drawn. */
import type { SearchIndex } from '../../docs/contents.ts'
import { applyTheme } from '../parts/theme.ts'
import { type Hit, searchPages } from './search.ts'

const COPIED_MS = 2_000

const address = document.currentScript?.dataset.search ?? ''

applyTheme()
addEventListener('DOMContentLoaded', () => {
  openSearch()
  for (const block of document.querySelectorAll('article pre')) addCopyButton(block)
  scrollToCurrent()
})

/** Shows the current page in the list, and does not scroll the page itself. */
function scrollToCurrent(): void {
  const list = document.querySelector<HTMLElement>('#pages')
  const current = list?.querySelector<HTMLElement>('[aria-current]')
  if (list && current) list.scrollTop = current.offsetTop - list.clientHeight / 2
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text = '', kind = '') {
  const made = document.createElement(name)
  made.textContent = text
  if (kind !== '') made.className = kind
  return made
}

function openSearch(): void {
  const search = document.querySelector<HTMLElement>('search')
  const input = search?.querySelector('input')
  const list = search?.querySelector('ul')
  const status = search?.querySelector('[role=status]')
  if (!search || !input || !list || !status) return
  search.hidden = false
  let index: Promise<SearchIndex> | undefined
  const load = () => {
    index ??= fetch(address).then((answer) => answer.json())
    return index
  }
  const update = async () => {
    const query = input.value
    const hits = searchPages(await load(), query)
    // The user typed more while the index was loading.
    if (input.value !== query) return
    const isEmpty = query.trim() === ''
    const none = element('li', 'No results. Try fewer words.', 'none')
    list.replaceChildren(...(hits.length > 0 ? hits.map(itemOf) : [none]))
    list.hidden = isEmpty
    status.textContent = isEmpty ? '' : `${hits.length} ${hits.length === 1 ? 'result' : 'results'}`
  }
  const close = () => {
    list.hidden = true
  }
  input.addEventListener('input', () => void update())
  input.addEventListener('focus', () => void load())
  search.addEventListener('keydown', (event) => moveFocus(event, input, list, close))
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && search.contains(relatedTarget))) close()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
    event.preventDefault()
    input.focus()
  })
}

function moveFocus(event: KeyboardEvent, input: HTMLElement, list: Element, close: () => void) {
  const places = [input, ...list.querySelectorAll('a')]
  const at = places.indexOf(document.activeElement as HTMLElement)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined) {
    event.preventDefault()
    places[(at + step + places.length) % places.length]?.focus()
  }
  if (event.key === 'Enter' && at === 0) places[1]?.click()
  if (event.key !== 'Escape') return
  input.focus()
  close()
}

function itemOf({ href, title, heading, layer, excerpt }: Hit): HTMLElement {
  const link = element('a')
  link.href = href
  link.append(
    element('span', layer, 'layer'),
    element('strong', heading === '' ? title : `${title} › ${heading}`),
    element('span', excerpt, 'excerpt'),
  )
  const item = element('li')
  item.append(link)
  return item
}

/** The button is beside the block, so that it does not scroll with the code. */
function addCopyButton(block: Element): void {
  const frame = element('div', '', 'code')
  const button = element('button', 'Copy', 'copy')
  button.type = 'button'
  block.replaceWith(frame)
  frame.append(block, button)
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(block.textContent?.trimEnd() ?? '').then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Copy failed'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, COPIED_MS)
  })
}
