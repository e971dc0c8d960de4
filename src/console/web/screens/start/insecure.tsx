/** Shown in place of the console where the browser has no Web Crypto: why, and three ways out. */
import type { ReactNode } from 'react'
import { texts } from '../../texts/index.ts'

const words = texts.insecure

export function Insecure() {
  const { origin, hostname, port } = location
  const at = port || '80'
  const host = hostname.replace(/^\[|\]$/g, '')
  return (
    <main className="start stack">
      <h1>{words.title}</h1>
      <p>{words.why(origin)}</p>
      <Way title={words.https}>
        <p>{words.httpsHow}</p>
      </Way>
      <Way title={words.tunnel}>
        <p>{words.tunnelHow}</p>
        {/* No button copies it: that needs HTTPS, too. */}
        <Command text={`ssh -L 8000:${hostname}:${at} ${host}`} />
        <p>
          {words.thenOpen} <a href={words.local}>{words.local}</a>
        </p>
      </Way>
      <Way title={words.commandLine}>
        <p>{words.commandLineHow}</p>
        <Command text={`cloakroom console --server ${origin} --insecure-http`} />
      </Way>
    </main>
  )
}

function Way({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Command({ text }: { text: string }) {
  return (
    <div className="snippet">
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  )
}
