import { png } from '../../support/pictures.ts'
import { failIf, first, pick, type Planner } from './selection.ts'

/** The visibility that a random number stands for. */
const visibilityOf = (c: number) => (['workspace', 'private', 'board', 'private'] as const)[c % 4]!

/** Requests to attachments, covers and files. */
export const attachmentRequests: Readonly<Record<string, Planner>> = {
  'upload attachment': ({ person, board, card, onCard }, { c }, { model }) => {
    const form = new FormData()
    form.set('visibility', visibilityOf(c))
    form.set('file', new File([c % 3 ? png(1, 1 + (c % 100)) : `${c}`], 'f', { type: c % 3 ? 'image/png' : 'text/plain' }))
    return {
      method: 'POST',
      path: `/cards/${card.id}/files`,
      form,
      expected: onCard,
      apply: ({ id, file_id }) => {
        model.files.set(file_id, { owner: person.id, visibility: visibilityOf(c), home: board.id })
        card.attachments.push({ id, file: file_id, image: c % 3 !== 0 })
      },
    }
  },
  'attach existing file': ({ person, card, otherCard, onCard }, { c }, { model }) => {
    const attachment = pick(otherCard.attachments, c, undefined)
    const isDuplicate = card.attachments.some(({ file }) => file === attachment?.file)
    return (
      attachment && {
        method: 'POST',
        path: `/cards/${card.id}/attachments`,
        body: { file_id: attachment.file },
        expected: first(onCard, failIf(!model.canUse(person.id, attachment.file), 404), failIf(isDuplicate, 409)),
        apply: ({ id }) => void card.attachments.push({ ...attachment, id }),
      }
    )
  },
  'delete attachment': ({ person, card, onBoard }, { c }, { model }) => {
    const attachment = pick(card.attachments, c, undefined)
    return (
      attachment && {
        method: 'DELETE',
        path: `/attachments/${attachment.id}`,
        expected: first(onBoard, failIf(!model.canUse(person.id, attachment.file), 403)),
        apply: () => {
          card.attachments = card.attachments.filter(({ id }) => id !== attachment.id)
          if (card.cover === attachment.id) card.cover = null
        },
      }
    )
  },
  'set cover': ({ person, card, onBoard }, { c }, { model }) => {
    const attachment = pick(card.attachments, c, undefined)
    const cover = card.attachments.find(({ id }) => id === card.cover)
    return (
      attachment && {
        method: 'PUT',
        path: `/cards/${card.id}/cover`,
        body: { attachment_id: attachment.id },
        expected: first(
          onBoard,
          failIf(!model.canUse(person.id, attachment.file), 403),
          // It replaces the present cover.
          failIf(cover !== undefined && !model.canUse(person.id, cover.file), 403),
          failIf(!attachment.image, 409),
        ),
        apply: () => (card.cover = attachment.id),
      }
    )
  },
  'remove cover': ({ person, card, onCard }, _step, { model }) => {
    const cover = card.attachments.find(({ id }) => id === card.cover)
    return {
      method: 'DELETE',
      path: `/cards/${card.id}/cover`,
      expected: first(onCard, failIf(cover !== undefined && !model.canUse(person.id, cover.file), 403)),
      apply: () => (card.cover = null),
    }
  },
  'set visibility of file': ({ person, card }, { c }, { model }) => {
    const attachment = pick(card.attachments, c, undefined)
    const file = attachment && model.files.get(attachment.file)
    return (
      file && {
        method: 'PATCH',
        path: `/files/${attachment.file}`,
        body: { visibility: visibilityOf(c) },
        expected: first(failIf(!model.canUse(person.id, attachment.file), 404), failIf(file.owner !== person.id, 403)),
        apply: () => (file.visibility = visibilityOf(c)),
      }
    )
  },
}
