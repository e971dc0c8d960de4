/** While something is read. Nothing is shown in the first moment, so that what is fast does not flicker. */
import { texts } from '../../texts/index.ts'

export function Loading() {
  return (
    <p className="loading" role="status">
      {texts.common.loading}
    </p>
  )
}
