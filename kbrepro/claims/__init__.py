"""What a paper says, judged on kept trials: in how many reruns would it come out again?"""
