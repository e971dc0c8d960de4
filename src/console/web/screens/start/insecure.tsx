/** Shown instead of the console if the browser has no Web Crypto, with three solutions. */
import type { ReactNode } from 'react'
import { texts } from '../../texts/index.ts'
import { EntryPage } from './entry.tsx'

const words = texts.insecure

export function Insecure() {
  const { origin, hostname, port } = location
  const at = port || '80'
  const host = hostname.replace(/^\[|\]$/g, '')
  return (
    <EntryPage title={words.title} isWide>
      <p className="text-ink-2">{words.why(origin)}</p>
      <Way title={words.https}>
        <p>{words.httpsHow}</p>
      </Way>
      <Way title={words.tunnel}>
        <p>{words.tunnelHow}</p>
        {/* No button copies it: that needs HTTPS, too. */}
        <Command text={`ssh -L 8000:${hostname}:${at} ${host}`} />
        <p>
          {words.thenOpen}{' '}
          <a href={words.local} className="text-accent-ink underline">
            {words.local}
          </a>
        </p>
      </Way>
      <Way title={words.commandLine}>
        <p>{words.commandLineHow}</p>
        <Command text={`cloakroom console --server ${origin} --insecure-http`} />
      </Way>
    </EntryPage>
  )
}

function Way({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  )
}

function Command({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard.
    <pre tabIndex={0} className="overflow-auto rounded-control border border-line bg-canvas p-3">
      <code>{text}</code>
    </pre>
  )
}
