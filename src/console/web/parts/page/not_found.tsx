/** An address of the page that there is not. */
import { Link } from '@tanstack/react-router'
import { texts } from '../../texts/index.ts'

export function NotFound() {
  return (
    <section className="stack">
      <h1>{texts.common.notFound}</h1>
      <Link to="/">{texts.common.toStart}</Link>
    </section>
  )
}
