/** Headings of a Markdown page, and the anchors that links name them by. */

/** The headings in order, as written. */
export function headingsOf(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, heading = '']) => heading)
}

/** The anchor of each heading, by GitHub's rule. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>()
  return headingsOf(text).map((heading) => {
    const bare = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
    const anchor = bare.replace(/\s/g, '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/** HTML comments are for tools and authors, not for readers. */
export function withoutComments(text: string): string {
  return text.replace(/<!--.*?-->\n*/gs, '')
}

export type Section = {
  /** 0 for the text before the first heading. */
  level: number
  heading: string
  anchor: string
  /** Markdown below the heading, up to the next heading. */
  text: string
}

/** The parts of a page, each with its heading. A `#` in a code block is no heading. */
export function sectionsOf(text: string): Section[] {
  const anchors = anchorsOf(text)
  const sections: Section[] = [{ level: 0, heading: '', anchor: '', text: '' }]
  let isCode = false
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks = '', heading = ''] = (!isCode && /^(#{1,6}) +(.*?) *$/.exec(line)) || []
    if (marks === '') {
      const last = sections.at(-1)
      if (last) last.text += `${line}\n`
      continue
    }
    const anchor = anchors[sections.length - 1] ?? ''
    sections.push({ level: marks.length, heading, anchor, text: '' })
  }
  return sections
}

/** A section with all sections below it, as Markdown, or `null` if no heading has the anchor. */
export function sectionAt(text: string, anchor: string): string | null {
  const sections = sectionsOf(text)
  const first = sections.findIndex((section) => section.level > 0 && section.anchor === anchor)
  const start = sections[first]
  if (!start) return null
  const length = sections.slice(first + 1).findIndex(({ level }) => level <= start.level)
  const chosen = sections.slice(first, length < 0 ? undefined : first + 1 + length)
  return chosen
    .map(({ level, heading, text: below }) => `${'#'.repeat(level)} ${heading}\n${below}`)
    .join('')
}
