/** Shown at an address that is not a screen. */
import { texts } from '../../texts/index.ts'
import { LinkButton } from '../link_button.tsx'

export function NotFound() {
  return (
    <section className="flex flex-col items-center gap-4 px-5 py-16 text-center">
      <h1 className="text-title font-semibold">{texts.common.notFound}</h1>
      <LinkButton to="/">{texts.common.toStart}</LinkButton>
    </section>
  )
}
