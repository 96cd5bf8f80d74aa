export { AnswerOnce as answerOnce } from './answer-once.js';
